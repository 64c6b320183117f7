import { quote } from "./safe_text.ts";

/**
 * Returns a function that writes the first error that it receives to `console.error`, on one line, and ignores all
 * later errors. The function never throws, even if the error cannot be converted to a string or the console throws.
 *
 * @param what Action that fails because of the error, such as `"use clock"`.
 */
export function firstErrorReporter(what: string): (error: unknown) => void {
  let hasFailed = false;
  return (error) => {
    if (hasFailed) return;
    hasFailed = true;
    try {
      console.error(`Cannot ${what}: ${quote(String(error))}`);
    } catch {
      // The error has no string form, or the console throws.
    }
  };
}
