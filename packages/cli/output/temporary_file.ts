import { closeSync, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describeSystemError, UsageError } from "../system/usage_error.ts";
import { writeAllSync } from "../system/write_all.ts";

/** Size of a block, in bytes. */
export const BLOCK = 65_536;

/** Bytes in a {@linkcode TemporaryFile}. */
export interface Block {
  /** Position in the file, in blocks. */
  readonly index: number;
  /** Number of bytes, at most {@linkcode BLOCK}. */
  readonly length: number;
}

/**
 * Temporary file in which blocks are stored and freed. The file is created when the first block is stored. It has no
 * name once it is open, so that nothing remains after `kill -9`. (On Windows, a file keeps its name until it is
 * closed.) All users share one file, because the number of open files is limited.
 */
export class TemporaryFile implements Disposable {
  /** Directory in which the file is created. */
  readonly #parent: string;
  #fd: number | undefined = undefined;
  /** Directory of the file if the file still has a name. */
  #directory: string | undefined = undefined;
  /** Number of blocks in the file. */
  #size = 0;
  readonly #free: number[] = [];

  /** Creates no file yet. */
  constructor(parent: string = tmpdir()) {
    this.#parent = parent;
  }

  /**
   * Stores at most {@linkcode BLOCK} bytes.
   *
   * @throws {UsageError} If the bytes can't be written.
   */
  store(bytes: Uint8Array): Block {
    try {
      this.#fd ??= this.#open();
      const index = this.#free.pop() ?? this.#size++;
      writeAllSync(this.#fd, bytes, index * BLOCK);
      return { index, length: bytes.length };
    } catch (error) {
      throw this.#failure("write", error);
    }
  }

  /**
   * Returns the bytes of a block.
   *
   * @throws {UsageError} If the bytes can't be read.
   */
  load({ index, length }: Block): Uint8Array {
    const bytes = new Uint8Array(length);
    try {
      for (let read = 0; read < length;) {
        const count = readSync(this.#fd!, bytes, read, length - read, index * BLOCK + read);
        if (count === 0) throw new Error("it is shorter than expected");
        read += count;
      }
    } catch (error) {
      throw this.#failure("read", error);
    }
    return bytes;
  }

  /** Frees a block for other bytes. */
  free({ index }: Block): void {
    this.#free.push(index);
  }

  [Symbol.dispose](): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
    this.#fd = undefined;
    if (this.#directory !== undefined) rmSync(this.#directory, { recursive: true, force: true });
  }

  #open(): number {
    const directory = mkdtempSync(join(this.#parent, "workqueue-"));
    const fd = openSync(join(directory, "output"), "wx+", 0o600);
    try {
      rmSync(directory, { recursive: true });
    } catch {
      this.#directory = directory; // Windows doesn't remove an open file
    }
    return fd;
  }

  #failure(action: "read" | "write", error: unknown): UsageError {
    const reason = describeSystemError(error, "directory");
    return new UsageError(
      `Cannot ${action} temporary file for output in '${this.#parent}': ${reason}; set TMPDIR to use another directory`,
    );
  }
}
