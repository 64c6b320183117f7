import { Buffer } from "node:buffer";

const NONE = Buffer.alloc(0);

/** Bytes that are collected in chunks. Adding `n` bytes one chunk at a time copies at most `3 * n` bytes in total. */
export class ByteBuffer {
  #bytes = NONE;
  #length = 0;

  /** Number of bytes. */
  get length(): number {
    return this.#length;
  }

  /** Adds a copy of a chunk. */
  add(chunk: Uint8Array): void {
    const length = this.#length + chunk.length;
    if (length > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(length, 2 * this.#length));
      larger.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = larger;
    }
    this.#bytes.set(chunk, this.#length);
    this.#length = length;
  }

  /** Returns all bytes. The returned array is valid until the next `add`. */
  view(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  /** Removes and returns all bytes. */
  take(): Uint8Array {
    const bytes = this.view();
    this.#bytes = NONE;
    this.#length = 0;
    return bytes;
  }
}
