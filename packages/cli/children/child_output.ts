import { Buffer } from "node:buffer";

/** A line of more bytes than this is passed on in parts. */
const MAX_LINE = 1 << 20;
const LINE_FEED = 0x0a;

/** Passes bytes on in whole lines, so that lines of children that run at once do not mix, each with a tag before it. */
export class LineWriter {
  /** Resolves when the last write has. */
  idle: Promise<void> = Promise.resolve();
  /** Whether something is being written. */
  isBusy = false;
  readonly #writeLines: (lines: Uint8Array) => Promise<void>;
  readonly #tag: Uint8Array;
  #rest: Uint8Array = new Uint8Array();
  #isWithinLine = false;

  /** Writes with that function. */
  constructor(writeLines: (lines: Uint8Array) => Promise<void>, tag = "") {
    this.#writeLines = writeLines;
    this.#tag = Buffer.from(tag);
  }

  /** Takes bytes in. Resolves when more can be taken. */
  write(chunk: Uint8Array): Promise<void> {
    const bytes = Buffer.concat([this.#rest, chunk]);
    const end = bytes.lastIndexOf(LINE_FEED) + 1 || (bytes.length > MAX_LINE ? bytes.length : 0);
    this.#rest = bytes.subarray(end);
    return this.#pass(bytes.subarray(0, end));
  }

  /** Passes on what came after the last line feed. */
  async end(): Promise<void> {
    await this.idle;
    await this.#pass(this.#rest);
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

/** Keeps the last bytes of what is written to it. */
export class Tail {
  readonly #size: number;
  #bytes: Buffer | undefined = undefined;

  /** Keeps so many bytes. */
  constructor(size: number) {
    this.#size = size;
  }

  /** Takes bytes in. */
  write(chunk: Uint8Array): void {
    const bytes = this.#bytes === undefined ? Buffer.from(chunk) : Buffer.concat([this.#bytes, chunk]);
    this.#bytes = bytes.subarray(-this.#size);
  }

  /** What is kept, whole characters only. */
  toString(): string {
    if (this.#bytes === undefined) return "";
    let start = 0; // past the bytes of a character whose beginning was cut off
    while (start < this.#bytes.length && start < 4 && (this.#bytes[start]! & 0xc0) === 0x80) start++;
    return this.#bytes.toString("utf8", start);
  }
}
