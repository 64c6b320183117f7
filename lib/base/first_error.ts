import { quote } from "./safe_text.ts";

/**
 * Returns a function that writes the first error it is given to `console.error`, in one line, and ignores all others.
 * The function never throws: errors without a text and consoles that throw cost no item either.
 *
 * @param what What cannot be done because of the error.
 */
export function firstErrorReporter(what: string): (error: unknown) => void {
  let hasFailed = false;
  return (error) => {
    if (hasFailed) return;
    hasFailed = true;
    try {
      console.error(`Cannot ${what}: ${quote(String(error))}`);
    } catch {
      // See above.
    }
  };
}
