import { Buffer } from "node:buffer";
import { ByteBuffer } from "./byte_buffer.ts";

/** Longest line that is passed on whole, in bytes. Longer lines are passed on in parts. */
const MAX_LINE = 1 << 20;
const LINE_FEED = 0x0a;

/** Passes bytes on in whole lines, each preceded by a tag, so that lines of concurrent children don't mix. */
export class LineWriter {
  /** Resolves when the last write has finished. */
  idle: Promise<void> = Promise.resolve();
  /** Whether a write is in progress. */
  isBusy = false;
  readonly #writeLines: (lines: Uint8Array) => Promise<void>;
  readonly #tag: Uint8Array;
  /** Start of a line whose line feed has not arrived. */
  readonly #rest = new ByteBuffer();
  #isWithinLine = false;

  /** Creates a writer that passes lines to `writeLines`. */
  constructor(writeLines: (lines: Uint8Array) => Promise<void>, tag = "") {
    this.#writeLines = writeLines;
    this.#tag = Buffer.from(tag);
  }

  /** Adds bytes. Resolves when more bytes can be added. */
  write(chunk: Uint8Array): Promise<void> {
    const isTooLong = this.#rest.length + chunk.length > MAX_LINE;
    const end = chunk.lastIndexOf(LINE_FEED) + 1 || (isTooLong ? chunk.length : 0);
    this.#rest.add(chunk.subarray(0, end || chunk.length));
    if (end === 0) return this.idle;
    const bytes = this.#rest.take();
    if (end < chunk.length) this.#rest.add(chunk.subarray(end));
    return this.#pass(bytes);
  }

  /** Writes the bytes after the last line feed. */
  async end(): Promise<void> {
    await this.idle;
    await this.#pass(this.#rest.take());
  }

  #pass(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return this.idle;
    this.isBusy = true;
    this.idle = this.#writeLines(this.#tagged(bytes)).finally(() => this.isBusy = false);
    return this.idle;
  }

  #tagged(bytes: Uint8Array): Uint8Array {
    if (this.#tag.length === 0) return bytes;
    const pieces: Uint8Array[] = [];
    for (let start = 0; start < bytes.length;) {
      if (!this.#isWithinLine) pieces.push(this.#tag);
      const end = bytes.indexOf(LINE_FEED, start) + 1 || bytes.length;
      pieces.push(bytes.subarray(start, end));
      this.#isWithinLine = bytes[end - 1] !== LINE_FEED;
      start = end;
    }
    return Buffer.concat(pieces);
  }
}

/** Buffer that keeps only the last bytes written to it. */
export class Tail {
  readonly #size: number;
  #bytes: Buffer | undefined = undefined;

  /** Creates a buffer for at most `size` bytes. */
  constructor(size: number) {
    this.#size = size;
  }

  /** Adds bytes. */
  write(chunk: Uint8Array): void {
    const bytes = this.#bytes === undefined ? Buffer.from(chunk) : Buffer.concat([this.#bytes, chunk]);
    this.#bytes = bytes.subarray(-this.#size);
  }

  /** Returns the kept text, without a partial character at its start. */
  toString(): string {
    if (this.#bytes === undefined) return "";
    let start = 0; // the loop skips the rest of a character whose first byte was cut off
    while (start < this.#bytes.length && start < 4 && (this.#bytes[start]! & 0xc0) === 0x80) start++;
    return this.#bytes.toString("utf8", start);
  }
}
