import { Buffer } from "node:buffer";
import { prefixLines } from "../system/prefix_lines.ts";
import { ByteBuffer } from "./byte_buffer.ts";

/** Longest line that is passed on whole, in bytes. Longer lines are passed on in parts. */
const MAX_LINE = 1 << 20;
const LINE_FEED = 0x0a;

/** Destination of a child's standard output or error output. */
export interface OutputSink {
  /** Write in progress; `undefined` if there is none. */
  readonly pending: Promise<void> | undefined;
  /**
   * Adds bytes, which the caller may overwrite once more bytes can be added.
   *
   * @returns Resolves when more bytes can be added; `undefined` if they can be added immediately.
   * @throws {Error} If the bytes can't be written. An asynchronous sink rejects with this error instead.
   */
  write(chunk: Uint8Array): Promise<void> | undefined;
  /** Writes the bytes that are still held after the last `write`. Rejects if the bytes can't be written. */
  end(): Promise<void>;
}

/** Passes bytes on in whole lines, each preceded by a tag, so that lines of concurrent children don't mix. */
export class LineWriter implements OutputSink {
  readonly #writeLines: (lines: Uint8Array) => Promise<void>;
  readonly #tag: Uint8Array;
  /** Start of a line whose line feed has not arrived. */
  readonly #rest = new ByteBuffer();
  #isWithinLine = false;
  /** Resolves when the last write has finished. */
  #idle: Promise<void> = Promise.resolve();
  #isBusy = false;

  /** Creates a writer that passes lines to `writeLines`. */
  constructor(writeLines: (lines: Uint8Array) => Promise<void>, tag = "") {
    this.#writeLines = writeLines;
    this.#tag = Buffer.from(tag);
  }

  get pending(): Promise<void> | undefined {
    return this.#isBusy ? this.#idle : undefined;
  }

  write(chunk: Uint8Array): Promise<void> {
    const isTooLong = this.#rest.length + chunk.length > MAX_LINE;
    const end = chunk.lastIndexOf(LINE_FEED) + 1 || (isTooLong ? chunk.length : 0);
    this.#rest.add(chunk.subarray(0, end || chunk.length));
    if (end === 0) return this.#idle;
    const bytes = this.#rest.take();
    if (end < chunk.length) this.#rest.add(chunk.subarray(end));
    return this.#pass(bytes);
  }

  /** Writes the bytes after the last line feed. Ends a line with a tag, so that the next tag begins a line. */
  async end(): Promise<void> {
    await this.#idle;
    const bytes = this.#rest.take();
    const isOpen = this.#tag.length > 0 && (bytes.length > 0 || this.#isWithinLine);
    await this.#pass(isOpen ? Buffer.concat([bytes, Buffer.from([LINE_FEED])]) : bytes);
  }

  #pass(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return this.#idle;
    this.#isBusy = true;
    this.#idle = this.#writeLines(this.#tagged(bytes)).finally(() => this.#isBusy = false);
    return this.#idle;
  }

  #tagged(bytes: Uint8Array): Uint8Array {
    if (this.#tag.length === 0) return bytes;
    const tagged = prefixLines(bytes, this.#tag, this.#isWithinLine);
    this.#isWithinLine = bytes.at(-1) !== LINE_FEED;
    return tagged;
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
