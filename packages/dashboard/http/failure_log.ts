import { inOneLine } from "@workqueue/core/internal";
import { thrownText } from "../watch/texts.ts";

/**
 * Logs an error in the dashboard to the console, with its stack trace. The log entry is a single line, because an error
 * may quote an item that contains line breaks.
 */
export function logFailure(what: string, thrown: unknown): void {
  console.error(inOneLine(`The dashboard failed to ${what}: ${stackOf(thrown) ?? thrownText(thrown)}`));
}

/**
 * Returns the stack trace of an error; `undefined` if the thrown value has none. Any value can be thrown, even an
 * object whose getters throw.
 */
function stackOf(thrown: unknown): string | undefined {
  try {
    return thrown instanceof Error && typeof thrown.stack === "string" && thrown.stack !== ""
      ? thrown.stack
      : undefined;
  } catch {
    return undefined;
  }
}
