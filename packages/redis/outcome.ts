import type { Outcome } from "@workqueue/core";
import { invalidArgument, requireDuration, requireOptions } from "@workqueue/core/arguments";

/** How the work on an item has ended. Lengths of time are in milliseconds. */
export type LeaseEnding =
  | { readonly kind: "done" | "succeeded" | "handedBack" }
  | { readonly kind: "requeueAfter"; readonly delay: number }
  | { readonly kind: "retry"; readonly atLeast: number; readonly error?: unknown }
  | { readonly kind: "givenUp"; readonly error: unknown };

const ACTION = "finish item";

/** Reads what a caller says about the end of its work. */
export function readOutcome(outcome: Outcome | { giveUp: unknown } | undefined): LeaseEnding {
  if (outcome === undefined) return { kind: "succeeded" };
  requireOptions(ACTION, outcome, ["requeue", "requeueAfter", "giveUp", "priority"]);
  const { requeue, requeueAfter, giveUp, priority } = outcome as Record<string, unknown>;
  if (priority !== undefined) throw noPriorities(ACTION);
  if (giveUp !== undefined) return { kind: "givenUp", error: giveUp };
  if (requeueAfter !== undefined) {
    return { kind: "requeueAfter", delay: requireDuration(ACTION, "requeueAfter", requeueAfter) };
  }
  if (requeue !== undefined && typeof requeue !== "boolean") {
    throw invalidArgument(ACTION, "requeue", "must be true or false", requeue);
  }
  return requeue ? { kind: "retry", atLeast: 0 } : { kind: "succeeded" };
}

/** The error for a priority. */
export function noPriorities(action: string): TypeError {
  return new TypeError(`Cannot ${action} as queues on Redis know no priorities yet: they are first in, first out`);
}
