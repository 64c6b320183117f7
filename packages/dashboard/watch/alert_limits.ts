/**
 * Limits at which the alert rules in `docs/operate/alerts.yml` fire. The rules are generated from these limits, and the
 * verdicts use the same limits, so a queue is never healthy while an alert fires, with the exceptions in
 * `docs/operate/alerts.md`.
 */

/** Name of an alert rule about a queue whose metrics exist. */
export type AlertName =
  | "WorkqueueBacklogGrows"
  | "WorkqueueOldestTooOld"
  | "WorkqueueRetryStorm"
  | "WorkqueueHandlerStuck"
  | "WorkqueueNothingTaken";

const MINUTE = 60_000;

/** Time for which the condition of a rule must hold until the alert fires, in milliseconds. */
export const HOLDS_FOR: Readonly<Record<AlertName, number>> = {
  WorkqueueBacklogGrows: 15 * MINUTE,
  WorkqueueOldestTooOld: 5 * MINUTE,
  WorkqueueRetryStorm: 10 * MINUTE,
  WorkqueueHandlerStuck: MINUTE,
  WorkqueueNothingTaken: 5 * MINUTE,
};

/** Number of items up to which a backlog may grow. */
export const MAX_BACKLOG = 100;
/** Slope of a growing backlog, in items per second. A slope up to this limit is considered noise. */
export const MAX_SLOPE = 0.1;
/** Period over which the slope of a backlog is computed, in milliseconds. */
export const SLOPE_OVER = 15 * MINUTE;
/** Longest time that an item may be ready, in milliseconds. */
export const MAX_AGE = 5 * MINUTE;
/** Largest share of attempts that may fail. */
export const MAX_FAILED_SHARE = 0.5;
/** Failed attempts per second up to which their share doesn't matter. */
export const MAX_FAILURES = 0.1;
/** Longest time that an item may be processing, in milliseconds. */
export const MAX_RUN = 15 * MINUTE;
/** Period over which attempts and hand-outs are counted, in milliseconds. */
export const COUNTED_OVER = 5 * MINUTE;

/**
 * Time for which an alert may still fire after its condition has ended, in milliseconds. Prometheus scrapes and
 * evaluates once a minute by default.
 */
export const ALERT_LAG = 2 * MINUTE;
