import { inOneLine } from "@workqueue/core/internal";
import { thrownText } from "../watch/texts.ts";

/** Logs a failure of the dashboard with its stack to the console. Uses one line, because an error may quote an item. */
export function logFailure(what: string, thrown: unknown): void {
  console.error(inOneLine(`The dashboard failed to ${what}: ${stackOf(thrown) ?? thrownText(thrown)}`));
}

/**
 * Returns the stack of an error; `undefined` if there is none. Any value can be thrown, even one that throws when it is
 * read.
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
