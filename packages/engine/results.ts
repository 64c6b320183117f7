import { GivenUpError, type GiveUpReason } from "@workqueue/core";
import { inspect, messageOf, withCode } from "@workqueue/core/internal";
import { Buffer } from "node:buffer";
import { cancelledError, readReason } from "./cancel_reason.ts";

/** Maximum size of a result, in bytes of its JSON. */
const MAX_SIZE = 65_536;

/** Returns the result of a handler as an outcome of waits: see `WaitOutcome`. */
export function writeResult(result: unknown): string {
  if (result === undefined) return "done";
  try {
    const text = JSON.stringify(result);
    if (text === undefined) return `refused it has no JSON form: ${inspect(result)}`;
    const size = Buffer.byteLength(text);
    return size <= MAX_SIZE ? `value ${text}` : `refused its JSON has ${size} bytes, more than ${MAX_SIZE}`;
  } catch (error) { // a cycle, or a bigint
    return `refused it can't be written as JSON: ${messageOf(error)}`;
  }
}

/** Returns the error for an outcome whose result can't be stored; `undefined` for any other outcome. */
export function refusedResult(key: string, outcome: string): Error | undefined {
  const [kind, why] = partsOf(outcome);
  if (kind !== "refused") return undefined;
  const message = `Cannot store the result of ${inspect(key)}: ${why}. The item is done`;
  return withCode("WQ_RESULT", new Error(message));
}

/**
 * Returns the result of an outcome.
 *
 * @throws The error for an outcome without a result.
 */
export function readOutcome(key: string, outcome: string): unknown {
  const [kind, text] = partsOf(outcome);
  switch (kind) {
    case "done":
      return undefined;
    case "value":
      return JSON.parse(text);
    case "givenUp": {
      const [reason, error] = partsOf(text);
      throw new GivenUpError(error, reason as GiveUpReason);
    }
    case "cancelled":
      throw cancelledError(undefined, text === "" ? {} : { cause: readReason(text) });
    default:
      throw refusedResult(key, outcome);
  }
}

/** Divides a text at its first space. */
function partsOf(text: string): [first: string, rest: string] {
  const end = text.indexOf(" ");
  return end < 0 ? [text, ""] : [text.slice(0, end), text.slice(end + 1)];
}
