import { inOneLine } from "@workqueue/core/arguments";

const MAX_LENGTH = 1000;
/** Of what is stored for each key that fails. */
const MAX_LINE_LENGTH = 300;

/** What an error says, as a text of bounded length. Anything can be thrown, also what throws when it is looked at. */
export function messageOf(error: unknown): string {
  try {
    return String(error).slice(0, MAX_LENGTH);
  } catch {
    return "An error that cannot be shown";
  }
}

/** The same in one line, which is never empty. */
export function lineOf(error: unknown): string {
  const line = inOneLine(messageOf(error).toWellFormed()).trim();
  if (line.length <= MAX_LINE_LENGTH) return line || "An error without a message";
  return line.slice(0, MAX_LINE_LENGTH - 1).replace(/[\ud800-\udbff]$/, "") + "…";
}
