import { type Duration, parseDuration } from "@workqueue/core/duration";
import type { HandlerContext, Outcome } from "@workqueue/core/workers";

/** How an attempt ended, as far as its handler knows, and by which error. */
export type Ending =
  | { readonly outcome: "succeeded" | "requeued" | "requeued-after" }
  | { readonly outcome: "failed" | "given-up" | "timed-out" | "interrupted"; readonly error: unknown };

/** Marks a `TerminalError`, be it of another copy of the core. */
const TERMINAL: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.terminal");

/** How a handler ended that returned, in time unless it is said that this was too late. */
export function endingOfReturn(returned: void | Outcome): Ending {
  try {
    const { requeue, requeueAfter } = (returned ?? {}) as Record<string, unknown>;
    const isDelayed = requeueAfter !== undefined && parseDuration(requeueAfter as Duration) > 0;
    return { outcome: isDelayed ? "requeued-after" : requeue ? "requeued" : "succeeded" };
  } catch (error) { // of a getter, or a delay that is not a duration: the pool counts a failure as well
    return { outcome: "failed", error };
  }
}

/** How a handler ended that threw. */
export function endingOfThrow(error: unknown, context: HandlerContext): Ending {
  if (isTerminal(error)) return { outcome: "given-up", error };
  if (isTimedOut(context)) return { outcome: "timed-out", error };
  return { outcome: context.signal.aborted ? "interrupted" : "failed", error };
}

/** The ending of a handler that returned when its time was up; `undefined` if it was not. */
export function endingOfTimeout(context: HandlerContext): Ending | undefined {
  return isTimedOut(context) ? { outcome: "timed-out", error: context.signal.reason } : undefined;
}

function isTimedOut({ signal }: HandlerContext): boolean {
  return signal.aborted && signal.reason instanceof DOMException && signal.reason.name === "TimeoutError";
}

/** Anything can be thrown, also what throws when it is looked at. */
function isTerminal(thrown: unknown): boolean {
  try {
    return (thrown as Record<symbol, unknown> | null | undefined)?.[TERMINAL] === true;
  } catch {
    return false;
  }
}
