import { Buffer, isUtf8 } from "node:buffer";

/** The end of an item in the input. */
export type Separator = "line feed" | "NUL";

const BYTES: Record<Separator, number> = { "line feed": 0x0a, NUL: 0 };
/** A longer line cannot be an argument of a command. It is refused before it fills the memory. */
const MAX_MEBIBYTES = 16;
const BYTE_ORDER_MARK = "\uFEFF";
/** A decoder puts this in place of bytes that are not UTF-8. A valid line may contain it too. */
const REPLACEMENT = "\uFFFD";

/** Options of {@linkcode readLines}. */
export interface LineOptions {
  /** The end of a line. */
  readonly separator: Separator;
  /**
   * Longest line, in MiB.
   *
   * @default {16}
   */
  readonly maxMebibytes?: number;
  /** Returns why a line cannot be an item; `undefined` if it can be one. */
  fault(line: string): string | undefined;
  /** Called with the number of each refused line, 1 for the first one of the input, and the reason. */
  onRefused(lineNumber: number, reason: string): void;
}

/**
 * Splits a stream of UTF-8 into lines. Yields one array of lines for each chunk of the input.
 *
 * A line ends with LF or CR LF. A byte order mark at the start and blank lines are dropped; white space at the start or
 * the end of other lines is kept. If NUL ends items, everything between two NULs is an item, and only empty ones are
 * dropped. A line that is not UTF-8 is refused: two such lines may look alike, and the command would get something
 * else.
 *
 * @param input The bytes, as `node:stream` reads them.
 * @param options The end of a line, and which lines are refused.
 * @returns The lines, in the order of the input.
 */
export async function* readLines(
  input: AsyncIterable<Uint8Array>,
  { separator, maxMebibytes = MAX_MEBIBYTES, fault, onRefused }: LineOptions,
): AsyncGenerator<string[], void, void> {
  const maxLength = maxMebibytes * 2 ** 20;
  const end = BYTES[separator];
  let pieces: Buffer[] = []; // of the line that has not ended yet
  let length = 0; // of that line, with the pieces that were dropped
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

  // Each line is decoded by itself: a slice of a longer string would keep all of it in memory.
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
