import { inspect } from "./errors.ts";

const MAX_LENGTH = 300;

/**
 * Returns the name and message of an error, or a description of any other thrown value, in at most 300 characters.
 * Never throws, even if reading the value throws.
 */
export function messageOf(thrown: unknown): string {
  try {
    if (!(thrown instanceof Error)) return inspect(thrown);
    const { name, message } = thrown;
    const text = message ? `${name}: ${message}` : name;
    return text.length <= MAX_LENGTH ? text : text.slice(0, MAX_LENGTH - 1).replace(/[\ud800-\udbff]$/, "") + "…";
  } catch {
    return inspect(thrown);
  }
}

/**
 * Returns the source location where an error was created, as the runtime formats it; `""` if the location is unknown. A
 * call takes a few microseconds.
 */
export function placeOf(thrown: unknown): string {
  try {
    // The code that creates a timeout or abort error is not at fault, so the location of that code would mislead.
    if (!(thrown instanceof Error) || thrown instanceof DOMException) return "";
    const { message, stack = "" } = thrown;
    return stack.slice(stack.indexOf(message) + message.length).match(/^.*:\d+:\d+\)?$/m)?.[0].trim() ?? "";
  } catch {
    return "";
  }
}
