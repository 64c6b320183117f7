import { ByteBuffer } from "../children/byte_buffer.ts";
import type { OutputSink } from "../children/child_output.ts";
import { BLOCK, type Block, TemporaryFile } from "./temporary_file.ts";

/** Largest amount of output of ended attempts that is kept in memory, in bytes. */
const MAX_IN_MEMORY = 1 << 26;

/** Storage that all spools of a run share. */
export class SpoolStorage implements Disposable {
  /** Number of bytes that ended spools keep in memory. */
  inMemory = 0;
  /** File for bytes that are not kept in memory. */
  readonly file: TemporaryFile;
  /** Largest number of bytes that ended spools keep in memory. */
  readonly maxInMemory: number;

  /**
   * Creates empty storage.
   *
   * @param directory The directory of the temporary file; by default, that of the system.
   */
  constructor({ maxInMemory = MAX_IN_MEMORY, directory }: { maxInMemory?: number; directory?: string } = {}) {
    this.maxInMemory = maxInMemory;
    this.file = new TemporaryFile(directory);
  }

  [Symbol.dispose](): void {
    this.file[Symbol.dispose]();
  }
}

/**
 * Output of an attempt, kept until it is printed. Keeps up to 64 KiB in memory and everything before these 64 KiB in
 * the temporary file.
 */
export class Spool implements OutputSink {
  readonly pending = undefined;
  readonly #storage: SpoolStorage;
  readonly #bytes = new ByteBuffer();
  readonly #blocks: Block[] = [];
  /** Number of bytes that are counted in `SpoolStorage.inMemory`. */
  #counted = 0;
  #isFreed = false;

  /** Creates an empty spool. */
  constructor(storage: SpoolStorage) {
    this.#storage = storage;
  }

  /**
   * Adds bytes. A freed spool ignores them.
   *
   * @throws {UsageError} If the temporary file can't be written.
   */
  write(chunk: Uint8Array): undefined {
    for (let start = 0; start < chunk.length && !this.#isFreed;) {
      if (this.#bytes.length === BLOCK) this.#store();
      const piece = chunk.subarray(start, start + BLOCK - this.#bytes.length);
      this.#bytes.add(piece);
      start += piece.length;
    }
  }

  /** Counts the bytes in memory, or moves them to the file if ended spools already keep too many bytes in memory. */
  // deno-lint-ignore require-await -- an error must reject the promise
  async end(): Promise<void> {
    if (this.#isFreed || this.#bytes.length === 0) return;
    if (this.#storage.inMemory + this.#bytes.length > this.#storage.maxInMemory) return this.#store();
    this.#counted = this.#bytes.length;
    this.#storage.inMemory += this.#counted;
  }

  /** Yields all bytes in chunks. */
  *chunks(): Generator<Uint8Array, void, void> {
    for (const block of this.#blocks) yield this.#storage.file.load(block);
    if (this.#bytes.length > 0) yield this.#bytes.view();
  }

  /** Drops all bytes. */
  free(): void {
    if (this.#isFreed) return;
    this.#isFreed = true;
    this.#storage.inMemory -= this.#counted;
    this.#bytes.take();
    for (const block of this.#blocks.splice(0)) this.#storage.file.free(block);
  }

  #store(): void {
    this.#blocks.push(this.#storage.file.store(this.#bytes.take()));
  }
}
