import { Buffer, isUtf8 } from "node:buffer";

const LINE_FEED = 0x0a;
const BYTE_ORDER_MARK = "\uFEFF";
/** What a decoder puts in the place of what is not UTF-8; a line may have it of its own, too. */
const REPLACEMENT = "\uFFFD";

/**
 * Splits a stream of UTF-8 into lines; one array of them for each chunk of the input.
 *
 * A line ends with LF or CR LF. A byte order mark at the start is dropped, and so are blank lines; white
 * space at the start or the end of other lines is kept. A line that is not UTF-8 is refused: it cannot be told from
 * another, and a command would be given something else.
 *
 * @param input The bytes, as `node:stream` gives them.
 * @param onRefused Is told the number of each line that is refused; 1 for the first line of the input.
 * @returns The lines, in the order of the input.
 */
export async function* readLines(
  input: AsyncIterable<Uint8Array>,
  onRefused: (lineNumber: number) => void,
): AsyncGenerator<string[], void, void> {
  let pieces: Buffer[] = []; // of the line whose end has not come yet
  let lineNumber = 0;

  // Each line is decoded by itself: a text cut out of a longer one would keep all of that in memory.
  const decode = (bytes: Buffer, lines: string[]): void => {
    let line = bytes.toString("utf8");
    if (++lineNumber === 1 && line.startsWith(BYTE_ORDER_MARK)) line = line.slice(1);
    if (line.endsWith("\r")) line = line.slice(0, -1);
    if (line.includes(REPLACEMENT) && !isUtf8(bytes)) onRefused(lineNumber);
    else if (line.trim() !== "") lines.push(line);
  };

  for await (const bytes of input) {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      decode(Buffer.concat([...pieces, chunk.subarray(start, end)]), lines);
      pieces = [];
      start = end + 1;
    }
    if (start < chunk.length) pieces.push(chunk.subarray(start));
    yield lines;
  }
  const last: string[] = [];
  if (pieces.length > 0) decode(Buffer.concat(pieces), last);
  yield last;
}
