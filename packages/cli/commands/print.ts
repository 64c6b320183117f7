import { OutputError } from "../system/output_error.ts";
import { stdout } from "../system/standard_streams.ts";
import { writeTo } from "../system/write_to.ts";

/**
 * Prints to standard output what a command is asked for.
 *
 * @param text The text.
 * @returns Whether somebody still reads it.
 * @throws {OutputError} If it cannot be written. That its reader has left, as `head` does, is no error.
 */
export async function print(text: string): Promise<boolean> {
  try {
    await writeTo(stdout, text);
    return true;
  } catch (error) {
    const failure = new OutputError(error);
    if (failure.readerHasLeft) return false;
    throw failure;
  }
}
