import { OutputError } from "../system/output_error.ts";
import { stdout } from "../system/standard_streams.ts";

/**
 * Prints to standard output what a command is asked for.
 *
 * @param text The text.
 * @returns Whether somebody still reads it.
 * @throws {OutputError} If it cannot be written. That its reader has left, as `head` does, is no error.
 */
export function print(text: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    stdout.write(text, (error) => {
      const failure = error === undefined || error === null ? undefined : new OutputError(error);
      if (failure === undefined || failure.readerHasLeft) resolve(failure === undefined);
      else reject(failure);
    });
  });
}
