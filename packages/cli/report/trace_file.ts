import { closeSync, fsync, ftruncateSync } from "node:fs";
import { promisify } from "node:util";
import { describeSystemError, UsageError } from "../system/usage_error.ts";
import { writeAll } from "../system/write_all.ts";
import { openOutputFile, type UsedFile } from "./output_file.ts";

/** File to which the trace of a run is written. */
export class TraceFile {
  /** Descriptor of the file. */
  readonly fd: number;
  readonly #path: string;
  /** Length in bytes; `undefined` if the file is not a regular file. */
  #length: number | undefined;
  /** First error. Nothing is written after an error. */
  #error: unknown = undefined;

  private constructor(path: string, fd: number, length: number | undefined) {
    this.#path = path;
    this.fd = fd;
    this.#length = length;
  }

  /**
   * Opens a trace. Writes nothing.
   *
   * @param path The path of the trace.
   * @param used The files that the trace must not overwrite.
   * @throws {UsageError} If the file can't be written, is not empty, or if the run uses it for another purpose.
   */
  static open(path: string, used: readonly UsedFile[]): TraceFile {
    const { fd, length } = openOutputFile(path, { purpose: "trace", used, ifNotEmpty: "choose another file" });
    return new TraceFile(path, fd, length);
  }

  /**
   * Writes some lines. If they can't be written, the trace ends with the line before them.
   *
   * @throws {Error} If this write or an earlier one failed.
   */
  async write(lines: string): Promise<void> {
    if (this.#error !== undefined) throw this.#error;
    const bytes = new TextEncoder().encode(lines);
    try {
      await writeAll(this.fd, bytes);
    } catch (error) {
      this.#error = error;
      if (this.#length !== undefined) ftruncateSync(this.fd, this.#length); // a line might be partly written
      throw error;
    }
    if (this.#length !== undefined) this.#length += bytes.length;
  }

  /**
   * Closes the trace. Resolves when every line is on disk.
   *
   * @throws {UsageError} If a write failed.
   */
  async close(): Promise<void> {
    try {
      if (this.#length !== undefined && this.#error === undefined) await promisify(fsync)(this.fd);
    } catch (error) {
      this.#error = error;
    }
    closeSync(this.fd);
    if (this.#error === undefined) return;
    throw new UsageError(`Cannot write trace '${this.#path}': ${describeSystemError(this.#error, "directory")}`);
  }
}
