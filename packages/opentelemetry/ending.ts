import { type Duration, parseDuration } from "@workqueue/core/duration";
import type { HandlerContext } from "@workqueue/core/workers";

/** Outcome of an attempt as seen by the handler, with the error if there was one. */
export type Ending =
  | { readonly outcome: "succeeded" | "requeued" | "requeued-after" }
  | { readonly outcome: "failed" | "given-up" | "timed-out" | "interrupted"; readonly error: unknown };

/** Key of the property that marks a `TerminalError`. All versions of the core in a program use the same key. */
const TERMINAL: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.terminal");

/** Returns the ending of an attempt whose handler returned in time. */
export function endingOfReturn(returned: unknown): Ending {
  try {
    const { requeue, requeueAfter } = (returned ?? {}) as Record<string, unknown>;
    const isDelayed = requeueAfter !== undefined && parseDuration(requeueAfter as Duration) > 0;
    return { outcome: isDelayed ? "requeued-after" : requeue ? "requeued" : "succeeded" };
  } catch (error) { // a getter threw, or the delay is not a duration; the pool also counts a failure
    return { outcome: "failed", error };
  }
}

/** Returns the ending of an attempt whose handler threw. */
export function endingOfThrow(error: unknown, context: HandlerContext): Ending {
  if (isTerminal(error)) return { outcome: "given-up", error };
  if (isTimedOut(context)) return { outcome: "timed-out", error };
  return { outcome: context.signal.aborted ? "interrupted" : "failed", error };
}

/** Returns the ending of an attempt that exceeded its timeout; `undefined` if the handler returned in time. */
export function endingOfTimeout(context: HandlerContext): Ending | undefined {
  return isTimedOut(context) ? { outcome: "timed-out", error: context.signal.reason } : undefined;
}

function isTimedOut({ signal }: HandlerContext): boolean {
  return signal.aborted && signal.reason instanceof DOMException && signal.reason.name === "TimeoutError";
}

/** Reports whether a `TerminalError` was thrown. Any value can be thrown, even an object whose getters throw. */
function isTerminal(thrown: unknown): boolean {
  try {
    return (thrown as Record<symbol, unknown> | null | undefined)?.[TERMINAL] === true;
  } catch {
    return false;
  }
}
