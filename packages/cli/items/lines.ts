import { Buffer, isUtf8 } from "node:buffer";

/** Separator between the items of the input. */
export type Separator = "line feed" | "NUL";

const BYTES: Record<Separator, number> = { "line feed": 0x0a, NUL: 0 };
/**
 * Length limit of a line, in MiB. A longer line can't be an argument of a command. Such a line is refused before it can
 * fill the memory.
 */
const MAX_MEBIBYTES = 16;
const BYTE_ORDER_MARK = "\uFEFF";
/**
 * Character that a decoder inserts in place of bytes that are not UTF-8. A valid line can also contain this character.
 */
export const REPLACEMENT = "\uFFFD";

/** Options of {@linkcode readLines}. */
export interface LineOptions {
  /** Separator between lines. */
  readonly separator: Separator;
  /**
   * Length limit of a line, in MiB.
   *
   * @default {16}
   */
  readonly maxMebibytes?: number;
  /** Returns the reason why a line can't be an item; `undefined` if the line can be an item. */
  fault(line: string): string | undefined;
  /** Called for each refused line with the line's number, starting at 1, and the reason. */
  onRefused(lineNumber: number, reason: string): void;
}

/**
 * Splits a stream of UTF-8 into lines. Yields an array of lines for each chunk of the input.
 *
 * A line ends with LF or CR LF. Blank lines are dropped, and so is a byte order mark at the start of the input. All
 * other lines keep the white space at their start and end. If the separator is NUL, all text between two NULs is an
 * item, and only empty items are dropped. A line that is not UTF-8 is refused, because two such lines can decode to the
 * same text, and the command would receive bytes that differ from the input.
 *
 * @param input The bytes, as read by `node:stream`.
 * @param options The separator, and the conditions that lines must meet.
 * @returns The lines, in the order of the input.
 */
export async function* readLines(
  input: AsyncIterable<Uint8Array>,
  { separator, maxMebibytes = MAX_MEBIBYTES, fault, onRefused }: LineOptions,
): AsyncGenerator<string[], void, void> {
  const maxLength = maxMebibytes * 2 ** 20;
  const end = BYTES[separator];
  let pieces: Buffer[] = []; // pieces of the unfinished line
  let length = 0; // length of the unfinished line, including dropped pieces
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

  // Decode each line separately: a slice of a longer string would keep the whole string in memory.
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
