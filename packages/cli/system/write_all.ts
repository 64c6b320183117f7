import { write, writeSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/** Pause before the next write to a full non-blocking pipe, in milliseconds. */
const FULL_PIPE_PAUSE = 10;

/**
 * Writes all bytes to an open file. A single write might write only some of the bytes. On a nearly full disk, such a
 * partial write succeeds, and the next write fails.
 *
 * @param fd The file descriptor.
 * @param bytes The bytes.
 * @throws {Error} If not all bytes can be written.
 */
export async function writeAll(fd: number, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.length;) {
    try {
      written += await writeSome(fd, bytes.subarray(written));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      await delay(FULL_PIPE_PAUSE);
    }
  }
}

/**
 * Writes all bytes to an open file before it returns. `position` is the position in the file. Default: the end of the
 * last write.
 *
 * @throws {Error} If not all bytes can be written.
 */
export function writeAllSync(fd: number, bytes: Uint8Array, position?: number): void {
  for (let written = 0; written < bytes.length;) {
    const at = position === undefined ? null : position + written;
    written += writeSync(fd, bytes, written, bytes.length - written, at);
  }
}

function writeSome(fd: number, bytes: Uint8Array): Promise<number> {
  const stream = denoStream(fd);
  if (stream !== undefined) return stream.write(bytes);
  return new Promise((resolve, reject) => {
    write(fd, bytes, (error, written) => error === null ? resolve(written) : reject(error));
  });
}

/**
 * Returns Deno's own stream; `undefined` on other runtimes. On Deno, `write` from `node:fs` and the streams from
 * `node:process` block the whole process on a full pipe.
 */
function denoStream(fd: number): { write(bytes: Uint8Array): Promise<number> } | undefined {
  if (!("Deno" in globalThis)) return undefined;
  return fd === 1 ? Deno.stdout : fd === 2 ? Deno.stderr : undefined;
}
