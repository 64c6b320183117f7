import { clearTimeout, setTimeout } from "node:timers";
import { inWords } from "./errors.ts";
import type { SubscriberWire } from "./wire.ts";

/**
 * Sends one command on a wire that nobody else uses, and returns the reply. If the reply takes too long, or the signal
 * aborts, ends the wire.
 *
 * @throws (as a rejection) If the server replies with an error, or the wire ends. The error is the reason.
 */
export async function ask(wire: SubscriberWire, command: readonly string[], signal: AbortSignal): Promise<unknown> {
  const late = () => wire.close(new Error(`there was no answer within ${inWords(wire.silence)}`));
  const timer = setTimeout(late, wire.silence);
  const onAbort = () => wire.close(signal.reason);
  signal.addEventListener("abort", onAbort);
  try {
    return await Promise.race([wire.send(command), wire.ended.then((reason) => Promise.reject(reason))]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}
