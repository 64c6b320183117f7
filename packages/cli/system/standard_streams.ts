import process from "node:process";
import { isatty, type WriteStream } from "node:tty";
import { writeAll } from "./write_all.ts";

/** Output stream, possibly a terminal. */
export interface OutputStream {
  /** Whether the stream is a terminal. */
  readonly isTTY?: boolean | undefined;
  /** Width of the terminal, in columns. */
  readonly columns?: number | undefined;
  /** Height of the terminal, in rows. */
  readonly rows?: number | undefined;
  /** Writes data. Calls `callback` when the data is written or the write has failed. */
  write(data: string | Uint8Array, callback?: (error?: unknown) => void): boolean;
}

/**
 * Standard output or standard error. Errors are reported only in the callback of a write. After the first error, every
 * write fails with the same error.
 *
 * The runtimes' own streams behave differently when a write fails: one throws, another hangs, and an `error` event
 * without a listener ends the process. A slow reader can block the whole process. The class therefore uses the
 * runtime's own stream only for a terminal. If the output is not a terminal, the class writes to the file descriptor,
 * one write at a time.
 */
class StandardStream implements OutputStream {
  readonly #fd: number;
  readonly #terminal: WriteStream | undefined;
  #last: Promise<void> = Promise.resolve();
  #error: unknown = undefined;

  constructor(fd: number, stream: () => WriteStream) {
    this.#fd = fd;
    if (!isatty(fd)) return;
    this.#terminal = stream();
    this.#terminal.on("error", () => {}); // the callback receives the error, too
  }

  get isTTY(): boolean {
    return this.#terminal !== undefined;
  }

  get columns(): number | undefined {
    return this.#terminal?.columns;
  }

  get rows(): number | undefined {
    return this.#terminal?.rows;
  }

  write(data: string | Uint8Array, callback?: (error?: unknown) => void): boolean {
    const end = () => callback?.(this.#error);
    const fail = (error: unknown) => void (this.#error ??= error ?? undefined);
    if (this.#terminal === undefined || this.#error !== undefined) {
      const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
      this.#last = this.#last.then(() => this.#error === undefined ? writeAll(this.#fd, bytes) : undefined).catch(fail);
      void this.#last.then(end);
      return true;
    }
    try {
      return this.#terminal.write(data, (error) => {
        fail(error);
        end();
      });
    } catch (error) {
      fail(error);
      end();
      return false;
    }
  }
}

/** Standard output of the process. */
export const stdout: OutputStream = new StandardStream(1, () => process.stdout);
/** Standard error of the process. */
export const stderr: OutputStream = new StandardStream(2, () => process.stderr);

/** Resolves when every pending write to the standard streams has finished or failed. */
export async function flushed(): Promise<void> {
  for (const stream of [stdout, stderr]) await new Promise<void>((resolve) => stream.write("", () => resolve()));
}
