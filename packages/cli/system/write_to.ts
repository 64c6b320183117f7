import type { OutputStream } from "./standard_streams.ts";

/** Writes to a stream. Resolves when the output is written, and rejects if it cannot be. */
export function writeTo(stream: OutputStream, output: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(output, (error) => error === undefined ? resolve() : reject(error));
  });
}
