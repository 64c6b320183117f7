import { Buffer, isUtf8 } from "node:buffer";

/** What ends an item of the input. */
export type Separator = "line feed" | "NUL";

const BYTES: Record<Separator, number> = { "line feed": 0x0a, NUL: 0 };
/** No command can be given a line of more MiB than this: it is left out before it fills the memory. */
const MAX_MEBIBYTES = 16;
const BYTE_ORDER_MARK = "\uFEFF";
/** What a decoder puts in the place of what is not UTF-8; a line may have it of its own, too. */
const REPLACEMENT = "\uFFFD";

/** How {@linkcode readLines} reads. */
export interface LineOptions {
  /** What ends a line. */
  readonly separator: Separator;
  /**
   * How long a line may be, in MiB.
   *
   * @default {16}
   */
  readonly maxMebibytes?: number;
  /** Says why a line cannot be an item; `undefined` if it can be. */
  fault(line: string): string | undefined;
  /** Is told the number of each line that is left out, 1 for the first one of the input, and why. */
  onRefused(lineNumber: number, reason: string): void;
}

/**
 * Splits a stream of UTF-8 into lines; one array of them for each chunk of the input.
 *
 * A line ends with LF or CR LF. A byte order mark at the start is dropped, and so are blank lines; white
 * space at the start or the end of other lines is kept. Where NUL ends them, they are all that is between, and only empty
 * ones are dropped. A line that is not UTF-8 is refused: it cannot be told from another, and a command would be given
 * something else.
 *
 * @param input The bytes, as `node:stream` gives them.
 * @param options What ends a line, and which are refused.
 * @returns The lines, in the order of the input.
 */
export async function* readLines(
  input: AsyncIterable<Uint8Array>,
  { separator, maxMebibytes = MAX_MEBIBYTES, fault, onRefused }: LineOptions,
): AsyncGenerator<string[], void, void> {
  const maxLength = maxMebibytes * 2 ** 20;
  const end = BYTES[separator];
  let pieces: Buffer[] = []; // of the line whose end has not come yet
  let length = 0; // of these, and of what was left out of it
  let lineNumber = 0;

  const take = (piece: Buffer): void => {
    length += piece.length;
    if (length > maxLength) pieces = [];
    else pieces.push(piece);
  };

  const endLine = (lines: string[]): void => {
    lineNumber++;
    if (length > maxLength) onRefused(lineNumber, `longer than ${maxMebibytes} MiB`);
    else decode(Buffer.concat(pieces), lines);
    pieces = [];
    length = 0;
  };

  // Each line is decoded by itself: a text cut out of a longer one would keep all of that in memory.
  const decode = (bytes: Buffer, lines: string[]): void => {
    let line = bytes.toString("utf8");
    if (separator === "line feed") {
      if (lineNumber === 1 && line.startsWith(BYTE_ORDER_MARK)) line = line.slice(1);
      if (line.endsWith("\r")) line = line.slice(0, -1);
      if (/^[ \t]*$/.test(line)) return;
    }
    if (line === "") return;
    const reason = line.includes(REPLACEMENT) && !isUtf8(bytes) ? "not UTF-8" : fault(line);
    if (reason === undefined) lines.push(line);
    else onRefused(lineNumber, reason);
  };

  for await (const bytes of input) {
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const lines: string[] = [];
    let start = 0;
    for (let stop = chunk.indexOf(end); stop !== -1; stop = chunk.indexOf(end, start)) {
      take(chunk.subarray(start, stop));
      endLine(lines);
      start = stop + 1;
    }
    if (start < chunk.length) take(chunk.subarray(start));
    yield lines;
  }
  const last: string[] = [];
  if (length > 0) endLine(last);
  yield last;
}
