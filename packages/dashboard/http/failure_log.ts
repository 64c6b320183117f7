import { inOneLine } from "@workqueue/core/internal";
import { thrownText } from "../watch/texts.ts";

/** Writes to the console what the dashboard failed at, and where: in one line, as an error may quote an item. */
export function logFailure(what: string, thrown: unknown): void {
  console.error(inOneLine(`The dashboard failed to ${what}: ${stackOf(thrown) ?? thrownText(thrown)}`));
}

/** Anything can be thrown, also what throws when it is looked at. */
function stackOf(thrown: unknown): string | undefined {
  try {
    return thrown instanceof Error && typeof thrown.stack === "string" && thrown.stack !== ""
      ? thrown.stack
      : undefined;
  } catch {
    return undefined;
  }
}
