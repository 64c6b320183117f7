import { OutputError } from "../system/output_error.ts";
import { stdout } from "../system/standard_streams.ts";
import { writeTo } from "../system/write_to.ts";

/**
 * Prints the result of a command to standard output.
 *
 * @param text The text.
 * @returns Whether standard output still has a reader. If a reader like `head` leaves early, that is not an error.
 * @throws {OutputError} If standard output can't be written.
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
