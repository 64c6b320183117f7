import { Buffer } from "node:buffer";
import { crc32, deflateSync, inflateSync } from "node:zlib";

/** Bytes of a pixel of an opaque picture. */
const PIXEL = 3;

/**
 * Returns the same picture in fewer bytes. Chromium filters each line, which suits photographs; a page of text and flat
 * colors is a quarter smaller without filters. The picture must be an opaque one of Chromium.
 */
export function smallerPng(png: Uint8Array): Uint8Array {
  const chunks = chunksOf(Buffer.from(png));
  const header = chunks.find(({ type }) => type === "IHDR")!.data;
  const data = Buffer.concat(chunks.filter(({ type }) => type === "IDAT").map(({ data }) => data));
  const [colorType, length] = [header[9], header.readUInt32BE(0) * PIXEL];
  if (colorType !== 2) throw new Error(`Cannot shrink picture: expected color type 2, got ${colorType}`);
  const lines = inflateSync(data);
  for (let start = 0; start < lines.length; start += length + 1) removeFilter(lines, start, length);
  return Buffer.concat([
    png.subarray(0, 8),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(lines, { level: 9, memLevel: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunksOf(png: Buffer): { type: string; data: Buffer }[] {
  const chunks = [];
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at);
    chunks.push({ type: png.toString("latin1", at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) });
    at += length + 12;
  }
  return chunks;
}

function chunk(type: string, data: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}

/** Replaces a filtered line by its colors. The line begins with the number of its filter. */
function removeFilter(lines: Buffer, start: number, length: number): void {
  const filter = lines[start];
  for (let at = start + 1; at <= start + length; at++) {
    const [isFirst, isTop] = [at <= start + PIXEL, start === 0];
    const left = isFirst ? 0 : lines[at - PIXEL]!;
    const up = isTop ? 0 : lines[at - length - 1]!;
    const corner = isFirst || isTop ? 0 : lines[at - length - 1 - PIXEL]!;
    lines[at]! += [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter!]!;
  }
  lines[start] = 0;
}

/** Returns the one of three neighbors that is nearest to `left + up - corner`. */
function paeth(left: number, up: number, corner: number): number {
  const [toLeft, toUp, toCorner] = [Math.abs(up - corner), Math.abs(left - corner), Math.abs(left + up - 2 * corner)];
  return toLeft <= toUp && toLeft <= toCorner ? left : toUp <= toCorner ? up : corner;
}
