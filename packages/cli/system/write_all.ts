import { write, writeSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

/** How long to wait, in milliseconds, where the other end of a pipe takes nothing now and a write would not wait for it. */
const FULL_PIPE_PAUSE = 10;

/**
 * Writes all of the bytes to an open file. One write may take only a part of them, as where a disk is nearly full: only
 * the next one fails then.
 *
 * @param fd The file.
 * @param bytes The bytes.
 * @throws {Error} If the system does not take them all.
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

/** Does the same at once. */
export function writeAllSync(fd: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length;) written += writeSync(fd, bytes, written);
}

function writeSome(fd: number, bytes: Uint8Array): Promise<number> {
  const stream = denoStream(fd);
  if (stream !== undefined) return stream.write(bytes);
  return new Promise((resolve, reject) => {
    write(fd, bytes, (error, written) => error === null ? resolve(written) : reject(error));
  });
}

/** On Deno, `write` of `node:fs` and the streams of `node:process` stop everything while a pipe is full. */
function denoStream(fd: number): { write(bytes: Uint8Array): Promise<number> } | undefined {
  if (!("Deno" in globalThis)) return undefined;
  return fd === 1 ? Deno.stdout : fd === 2 ? Deno.stderr : undefined;
}
