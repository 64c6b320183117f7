import { invalidArgument, withCode } from "@workqueue/core/internal";

/** Maximum length of a reason, in UTF-16 code units of its JSON. */
const MAX_LENGTH = 10_000;

/**
 * Returns the reason of a cancel as text for the process that has the item: JSON of the reason, or of the message of an
 * error.
 *
 * @throws {TypeError} If the reason has no JSON form, or a long one.
 */
export function writeReason(reason: unknown): string {
  if (reason === undefined) return "";
  const text = jsonOf(reason instanceof Error ? { error: reason.message } : { value: reason });
  if (text !== undefined && text !== "{}" && text.length <= MAX_LENGTH) return text;
  throw invalidArgument("cancel item", "reason", `must have a JSON form of at most ${MAX_LENGTH} characters`, reason);
}

function jsonOf(value: object): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined; // a cycle, or a bigint
  }
}

/** Returns the reason with which the signal of a cancelled attempt aborts. */
export function readReason(text: string): unknown {
  if (text === "") return cancelledError();
  const { value, error } = JSON.parse(text);
  return error === undefined ? value : cancelledError(error);
}

/** Returns the error for an item that was cancelled. */
export function cancelledError(message = "The item was cancelled", options: ErrorOptions = {}): Error {
  return withCode("WQ_CANCELLED", new Error(message, options));
}
