import type { Outcome } from "@workqueue/core";
import { argumentError, invalidArgument, requireDuration, requireOptions } from "@workqueue/core/internal";
import type { CancelledEnding, FailedEnding, GivenUpEnding } from "@workqueue/core/hooks";

/** Outcome of the work on an item. Durations are in milliseconds. */
export type LeaseEnding =
  | { readonly kind: "done" | "handedBack" }
  | { readonly kind: "succeeded"; readonly result?: unknown }
  | { readonly kind: "requeueAfter"; readonly delay: number; readonly priority?: number | undefined }
  | { readonly kind: "retry"; readonly minDelay: number; readonly priority?: number | undefined }
  | FailedEnding
  | GivenUpEnding;

/** Result of ending a lease: whether the ending was applied, or the ending that replaced it. */
export type EndAnswer = boolean | FailedEnding | GivenUpEnding | CancelledEnding;

const ACTION = "finish item";

/**
 * Reads the outcome that a caller passes to `finish`.
 *
 * @throws {TypeError} If an option is unknown or of the wrong type, or if `giveUp` is combined with another option.
 * @throws {RangeError} If `requeueAfter` or `priority` is `NaN` or infinite.
 */
export function readOutcome(outcome: Outcome | { giveUp: unknown } | undefined): LeaseEnding {
  if (outcome === undefined) return { kind: "succeeded" };
  requireOptions(ACTION, outcome, ["requeue", "requeueAfter", "giveUp", "priority"]);
  const { requeue, requeueAfter, giveUp, priority: given } = outcome as Record<string, unknown>;
  const priority = requirePriority(ACTION, given);
  if ("giveUp" in outcome) {
    if (requeue !== undefined || requeueAfter !== undefined || priority !== undefined) {
      throw argumentError(ACTION, "'giveUp' can't be combined with 'requeue', 'requeueAfter' or 'priority'");
    }
    return { kind: "givenUp", error: giveUp, reason: "terminal" };
  }
  const delay = requeueAfter === undefined ? 0 : requireDuration(ACTION, "requeueAfter", requeueAfter);
  if (delay > 0) return { kind: "requeueAfter", delay, priority };
  if (requeue !== undefined && typeof requeue !== "boolean") {
    throw invalidArgument(ACTION, "requeue", "must be true or false", requeue);
  }
  return requeue ? { kind: "retry", minDelay: 0, priority } : { kind: "succeeded" };
}

/**
 * Checks a priority, which may be `undefined`.
 *
 * @throws {TypeError} If the priority is not a number.
 * @throws {RangeError} If the priority is `NaN` or infinite.
 */
export function requirePriority(action: string, priority: unknown): number | undefined {
  if (priority === undefined || Number.isFinite(priority)) return priority as number | undefined;
  throw invalidArgument(action, "priority", "must be a finite number", priority);
}
