import type { OutputStream } from "./standard_streams.ts";

/** Writes to a stream. Resolves when the output is written. Rejects if it can't be written. */
export function writeTo(stream: OutputStream, output: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(output, (error) => error === undefined ? resolve() : reject(error));
  });
}
