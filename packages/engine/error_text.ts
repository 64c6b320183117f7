import { inOneLine, messageOf } from "@workqueue/core/internal";

/** Returns an error's name and message as one line of text that a server can store. */
export function lineOf(error: unknown): string {
  return inOneLine(messageOf(error).toWellFormed()).trim();
}
