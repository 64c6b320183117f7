import { inspect } from "./errors.ts";

const MAX_LENGTH = 300;

/**
 * Returns an error's name and message, with at most 300 characters. Anything can be thrown, and may throw when read.
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
 * Where an error was made, as the runtime writes it; `""` if that is not known. To find out takes some microseconds.
 */
export function placeOf(thrown: unknown): string {
  try {
    // Those of a timeout or an abort are made where nothing is wrong.
    if (!(thrown instanceof Error) || thrown instanceof DOMException) return "";
    const { message, stack = "" } = thrown;
    return stack.slice(stack.indexOf(message) + message.length).match(/^.*:\d+:\d+\)?$/m)?.[0].trim() ?? "";
  } catch {
    return "";
  }
}
