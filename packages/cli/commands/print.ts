import { OutputError } from "../system/output_error.ts";
import { stdout } from "../system/standard_streams.ts";
import { writeTo } from "../system/write_to.ts";

/**
 * Prints the result of a command to standard output.
 *
 * @param text The text.
 * @returns Whether somebody still reads standard output. A reader that has left, as `head` does, is not an error.
 * @throws {OutputError} If it cannot be written.
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
