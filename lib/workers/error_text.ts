import { inspect } from "../base/errors.ts";

const MAX_MESSAGE_LENGTH = 300;

/** An error's name and message. Anything can be thrown, also what throws when it is looked at. */
export function messageOf(thrown: unknown): string {
  try {
    if (!(thrown instanceof Error)) return inspect(thrown);
    const { name, message } = thrown;
    return (message ? `${name}: ${message}` : name).slice(0, MAX_MESSAGE_LENGTH);
  } catch {
    return inspect(thrown);
  }
}

/** Where an error was made, as the runtime writes it; `""` if that is not known. To find out takes some microseconds. */
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
