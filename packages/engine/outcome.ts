import type { Outcome } from "@workqueue/core";
import {
  argumentError,
  type CodedError,
  invalidArgument,
  requireDuration,
  requireOptions,
} from "@workqueue/core/internal";
import type { GivenUpEnding } from "@workqueue/core/hooks";

/** Outcome of the work on an item. Durations are in milliseconds. */
export type LeaseEnding =
  | { readonly kind: "done" | "succeeded" | "handedBack" }
  | { readonly kind: "requeueAfter"; readonly delay: number }
  | { readonly kind: "retry"; readonly minDelay: number }
  | { readonly kind: "failed"; readonly minDelay: number; readonly error: unknown }
  | GivenUpEnding;

/** Result of ending a lease: whether the ending was applied, or, if the limiter threw, the ending that replaced it. */
export type EndAnswer = boolean | GivenUpEnding;

const ACTION = "finish item";

/**
 * Reads the outcome that a caller passes to `finish`. `product` is named in messages.
 *
 * @throws {TypeError} If an option is unknown or of the wrong type, if a priority is given, or if `giveUp` is combined
 * with another option.
 * @throws {RangeError} If `requeueAfter` is `NaN` or infinite.
 */
export function readOutcome(product: string, outcome: Outcome | { giveUp: unknown } | undefined): LeaseEnding {
  if (outcome === undefined) return { kind: "succeeded" };
  requireOptions(ACTION, outcome, ["requeue", "requeueAfter", "giveUp", "priority"]);
  const { requeue, requeueAfter, giveUp, priority } = outcome as Record<string, unknown>;
  if (priority !== undefined) throw noPriorities(product, ACTION);
  if ("giveUp" in outcome) {
    if (requeue !== undefined || requeueAfter !== undefined) {
      throw argumentError(ACTION, "'giveUp' can't be combined with 'requeue' or 'requeueAfter'");
    }
    return { kind: "givenUp", error: giveUp, reason: "terminal" };
  }
  const delay = requeueAfter === undefined ? 0 : requireDuration(ACTION, "requeueAfter", requeueAfter);
  if (delay > 0) return { kind: "requeueAfter", delay };
  if (requeue !== undefined && typeof requeue !== "boolean") {
    throw invalidArgument(ACTION, "requeue", "must be true or false", requeue);
  }
  return requeue ? { kind: "retry", minDelay: 0 } : { kind: "succeeded" };
}

/** Returns the error for a priority, because queues outside the process have no priorities. */
export function noPriorities(product: string, action: string): CodedError {
  return argumentError(action, `queues on ${product} know no priorities yet: they are first in, first out`);
}
