import { OutputError } from "../system/output_error.ts";
import { stdout } from "../system/standard_streams.ts";
import { writeTo } from "../system/write_to.ts";

/**
 * Prints the result of a command to standard output.
 *
 * @param text The text.
 * @returns Whether standard output still has a reader. It is not an error if a reader such as `head` exits early.
 * @throws {OutputError} If writing to standard output fails.
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
