import { quote } from "./safe_text.ts";

/**
 * Returns a function that ignores all errors that it is given except the first, which it writes to `console.error` on
 * one line. The function never throws, even if the error cannot be converted to a string or the console throws.
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
