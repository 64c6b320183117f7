import { Buffer } from "node:buffer";

const LINE_FEED = 0x0a;
const BYTE_ORDER_MARK = "\uFEFF";

/**
 * Splits a stream of UTF-8 into lines; one array of them for each chunk of the input.
 *
 * A line ends with LF or CR LF. A byte order mark at the start is dropped, and so are blank lines; white
 * space at the start or the end of other lines is kept.
 *
 * @param input The bytes, as `node:stream` gives them.
 * @returns The lines, in the order of the input.
 */
export async function* readLines(input: AsyncIterable<Uint8Array>): AsyncGenerator<string[], void, void> {
  let pieces: Buffer[] = []; // of the line whose end has not come yet
  let isFirst = true;

  // Each line is decoded by itself: a text cut out of a longer one would keep all of that in memory.
  const decode = (bytes: Buffer): string => {
    let line = bytes.toString("utf8");
    if (isFirst && line.startsWith(BYTE_ORDER_MARK)) line = line.slice(1);
    isFirst = false;
    return line.endsWith("\r") ? line.slice(0, -1) : line;
  };

  for await (const bytes of input) {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      lines.push(decode(Buffer.concat([...pieces, chunk.subarray(start, end)])));
      pieces = [];
      start = end + 1;
    }
    if (start < chunk.length) pieces.push(chunk.subarray(start));
    yield lines.filter(isNotBlank);
  }
  yield [decode(Buffer.concat(pieces))].filter(isNotBlank);
}

function isNotBlank(line: string): boolean {
  return line.trim() !== "";
}
