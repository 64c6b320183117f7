import { Buffer } from "node:buffer";

const LINE_FEED = 0x0a;

/**
 * Writes a prefix before each line.
 *
 * @param bytes The lines. The last line may lack its line feed.
 * @param prefix The prefix.
 * @param isWithinLine Whether the bytes begin within a line, which then gets no prefix. Default: false.
 * @returns The bytes with prefixes.
 */
export function prefixLines(bytes: Uint8Array, prefix: Uint8Array, isWithinLine = false): Uint8Array {
  const pieces: Uint8Array[] = [];
  for (let start = 0; start < bytes.length;) {
    if (start > 0 || !isWithinLine) pieces.push(prefix);
    const end = bytes.indexOf(LINE_FEED, start) + 1 || bytes.length;
    pieces.push(bytes.subarray(start, end));
    start = end;
  }
  return Buffer.concat(pieces);
}
