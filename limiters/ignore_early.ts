/**
 * Limiter around another limiter: does not count failures of attempts that began before the retry was due.
 *
 * Delay: the delay of another limiter or, for a failure that is not counted, the rest of the previous delay.
 *
 * Choose it when items are added again while they fail, for example by events about an object. Without it, each
 * failure that an event causes doubles the backoff. Put it around all other limiters.
 *
 * ```json
 * {
 *   "type": "ignore-early",
 *   "limiter": { "type": "exponential", "baseDelay": "5ms", "maxDelay": "1000s" }
 * }
 * ```
 *
 * @module
 */

import { NOT_COUNTED } from "../lib/base/brands.ts";
import { ChurnMap } from "../lib/base/churn_map.ts";
import type { Clock } from "../lib/base/clock.ts";
import type { Duration } from "../lib/base/duration.ts";
import { invalidArgument } from "../lib/base/errors.ts";
import type { FailedAttempt, FailedStart, RateLimiter } from "../lib/contracts/rate_limiter.ts";
import { Pruner } from "../lib/structures/pruner.ts";
import { builtIn } from "../registry/built_in.ts";
import type { Field } from "../registry/fields.ts";
import { onePart } from "../registry/options_in_code.ts";
import { createForgetting } from "./counting_in_code.ts";
import { type LimiterDefinition, type LimiterFields, limiterKind } from "./definition.ts";
import { nextOf, tellForgotten } from "./next.ts";

export type * from "./types.ts";

/** Options of an ignore-early limiter. */
export const ignoreEarlyOptions = {
  limiter: {
    kind: "limiter",
    description: "Limiter that counts the other failures, as a config or a name. It may contain other limiters.",
  },
} as const satisfies LimiterFields;

/** Option `forgetAfter`, for a limiter that is used by hand. */
const forgetAfterField = {
  kind: "duration",
  default: "1h",
  description: "Time from the end of an item's last delay until the time of that end is forgotten.",
} as const satisfies Field;

/** Definition of `{ "type": "ignore-early" }`. */
export const ignoreEarly: LimiterDefinition<"ignore-early", typeof ignoreEarlyOptions> = {
  type: "ignore-early",
  description: "Does not count failures of attempts that began before the retry was due.",
  options: ignoreEarlyOptions,
  create: /* @__PURE__ */ builtIn(1, ({ limiter }, { clock }) => new IgnoreEarlyLimiter(limiter, clock)),
  update: /* @__PURE__ */ builtIn(1, (part: IgnoreEarlyLimiter, { limiter }) => part.change(limiter)),
};

/**
 * Creates a limiter that ignores early failures. A failure is early if its attempt began before the delay of the item's
 * previous failure was over: then an event caused the attempt, and not the retry. The other limiter is not asked, the
 * pool does not count the failure for `maxRetries`, and the retry stays due when that delay is over.
 *
 * So the backoff of an item that keeps failing is the same with and without events. In client-go, each event that fails
 * doubles the backoff (kubernetes issues 98656, 112325 and 132805): a key that fails for 60 s, with an event each
 * second, works again only after 964 s with the default limiter.
 *
 * Put it around all other limiters. Inside a max-of limiter, the other limiters would still count early failures.
 * `queue.addRateLimited(item)` without `startedAt` judges a failure by the time of the call. So a call during the delay
 * of an earlier call counts no failure.
 *
 * @example Usage
 * ```ts
 * import { createExponentialLimiter, createIgnoreEarlyLimiter } from "@workqueue/core";
 * import { FakeTime } from "@std/testing/time";
 * import { assertEquals } from "@std/assert";
 *
 * using time = new FakeTime();
 * const backoff = createExponentialLimiter({ baseDelay: "10s", maxDelay: "1h" });
 * const limiter = createIgnoreEarlyLimiter(backoff);
 * assertEquals(limiter.when("a"), 10_000);
 * time.tick(4000);
 * assertEquals(limiter.when("a"), 6000); // an event came too early
 * time.tick(6000);
 * assertEquals([limiter.when("a"), limiter.numRequeues("a")], [20_000, 2]);
 * ```
 *
 * @typeParam T The type of the items.
 * @param limiter The limiter that counts the other failures.
 * @param options `forgetAfter`: time from the end of an item's last delay until that time is forgotten, in milliseconds
 * or as a string such as `"1h"` (default: one hour); `clock`: the clock of the queue (default: the system's).
 * @returns The limiter.
 * @throws {RangeError} If `forgetAfter` is a number out of range.
 * @throws {TypeError} If `limiter` is not a rate limiter, or an option is unknown or has the wrong type.
 */
export function createIgnoreEarlyLimiter<T = unknown>(
  limiter: RateLimiter<T>,
  options: { forgetAfter?: Duration | undefined; clock?: Clock | undefined } = {},
): RateLimiter<T> {
  return createForgetting(
    ignoreEarly,
    { limiter: onePart(limiterKind) },
    { ...options, limiter },
    forgetAfterField,
    (made, forgetAfter) => (made as IgnoreEarlyLimiter).forgetDueTimesAfter(forgetAfter!),
  );
}

const ACTION = "ask ignore-early limiter";

/** Milliseconds by which an attempt may begin before it is due, because sums of times are rounded. */
const ROUNDING = 0.001;

/** Time from the end of a key's last delay until that time is forgotten, in milliseconds. */
const FORGET_AFTER = 3_600_000;

class IgnoreEarlyLimiter implements RateLimiter {
  #limiter: RateLimiter;
  readonly #clock: Clock;
  /** End of the last delay of each key for which `when` was called. */
  readonly #dueTimes = new ChurnMap<unknown, number>();
  readonly #pruner = new Pruner(this.#dueTimes);
  #forgetAfter = FORGET_AFTER;

  constructor(limiter: RateLimiter, clock: Clock) {
    this.#limiter = limiter;
    this.#clock = clock;
  }

  change(limiter: RateLimiter): void {
    this.#limiter = limiter;
  }

  forgetDueTimesAfter(ms: number): void {
    this.#forgetAfter = ms;
  }

  when(item: unknown, key: unknown = item, attempt?: FailedStart): number {
    const now = this.#clock.now();
    const { startedAt = now, minDelay = 0 } = attempt ?? {};
    requireTime("minDelay", minDelay);
    const dueBefore = this.#dueTimes.get(key);
    if (isEarly(dueBefore, startedAt)) return Math.max(dueBefore! - now, 0);
    const delay = this.#limiter.when(item, key, attempt);
    this.#pruner.prune((dueAt) => dueAt + this.#forgetAfter <= now);
    this.#dueTimes.set(key, now + Math.max(delay, minDelay));
    return delay;
  }

  next(failures: number, item: unknown, key: unknown, retry: FailedAttempt): number | typeof NOT_COUNTED {
    const { dueAt, startedAt } = retry;
    return isEarly(dueAt, startedAt) ? NOT_COUNTED : nextOf(this.#limiter, failures, item, key, retry);
  }

  get countsFailures(): "some" {
    return "some";
  }

  forgotten(item: unknown, key: unknown): void {
    tellForgotten(this.#limiter, item, key);
  }

  get forgetAfter(): number | undefined {
    return this.#limiter.forgetAfter;
  }

  forget(item: unknown, key: unknown = item): void {
    this.#dueTimes.delete(key);
    this.#limiter.forget(item, key);
  }

  numRequeues(item: unknown, key: unknown = item): number {
    return this.#limiter.numRequeues(item, key);
  }

  atRest(): boolean {
    return this.#dueTimes.size === 0 && this.#limiter.atRest?.() === true;
  }
}

/** Reports whether an attempt that began at this time is early. */
function isEarly(dueAt: number | undefined, startedAt: number): boolean {
  requireTime("startedAt", startedAt);
  return dueAt !== undefined && dueAt - startedAt > ROUNDING;
}

/** Throws if a time is not a number. It may be infinite. */
function requireTime(option: string, time: number): void {
  if (time - 0 !== time) throw invalidArgument(ACTION, option, "must be a number of milliseconds", time);
}
