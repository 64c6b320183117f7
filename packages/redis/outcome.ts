import type { Outcome } from "@workqueue/core";
import {
  argumentError,
  type CodedError,
  invalidArgument,
  requireDuration,
  requireOptions,
} from "@workqueue/core/internal";
import type { GivenUpEnding } from "@workqueue/core/hooks";

/** How the work on an item has ended. Lengths of time are in milliseconds. */
export type LeaseEnding =
  | { readonly kind: "done" | "succeeded" | "handedBack" }
  | { readonly kind: "requeueAfter"; readonly delay: number }
  | { readonly kind: "retry"; readonly minDelay: number; readonly error?: unknown }
  | GivenUpEnding;

/** Whether an ending counts; or that the item was given up instead, as its limiter threw. */
export type EndAnswer = boolean | GivenUpEnding;

const ACTION = "finish item";

/** Reads what a caller says about the end of its work. */
export function readOutcome(outcome: Outcome | { giveUp: unknown } | undefined): LeaseEnding {
  if (outcome === undefined) return { kind: "succeeded" };
  requireOptions(ACTION, outcome, ["requeue", "requeueAfter", "giveUp", "priority"]);
  const { requeue, requeueAfter, giveUp, priority } = outcome as Record<string, unknown>;
  if (priority !== undefined) throw noPriorities(ACTION);
  if (giveUp !== undefined) return { kind: "givenUp", error: giveUp, reason: "terminal" };
  const delay = requeueAfter === undefined ? 0 : requireDuration(ACTION, "requeueAfter", requeueAfter);
  if (delay > 0) return { kind: "requeueAfter", delay };
  if (requeue !== undefined && typeof requeue !== "boolean") {
    throw invalidArgument(ACTION, "requeue", "must be true or false", requeue);
  }
  return requeue ? { kind: "retry", minDelay: 0 } : { kind: "succeeded" };
}

/** The error for a priority. */
export function noPriorities(action: string): CodedError {
  return argumentError(action, "queues on Redis know no priorities yet: they are first in, first out");
}
