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

import { A_CLOCK } from "../lib/base/arguments.ts";
import { ChurnMap } from "../lib/base/churn_map.ts";
import type { Clock } from "../lib/base/clock.ts";
import type { Duration } from "../lib/base/duration.ts";
import { isSameKey } from "../lib/base/keys.ts";
import type { FailedStart, RateLimiter } from "../lib/contracts/rate_limiter.ts";
import { Pruner } from "../lib/structures/pruner.ts";
import { durationKind } from "../registry/option_kinds.ts";
import { onePart } from "../registry/options_in_code.ts";
import { builtIn } from "./built_in.ts";
import { createLimiter, type LimiterDefinition, type LimiterFields, limiterKind } from "./definition.ts";
import { OfQueues } from "./of_queues.ts";

export type * from "./types.ts";

/** Options of an ignore-early limiter. */
export const ignoreEarlyOptions = {
  limiter: {
    kind: "limiter",
    description: "Limiter that counts the other failures, as a config or a name. It may contain other limiters.",
  },
  forgetAfter: {
    kind: "duration",
    default: "1h",
    description: "Time from the end of an item's last delay until the time of that end is forgotten.",
  },
} as const satisfies LimiterFields;

/** Definition of `{ "type": "ignore-early" }`. */
export const ignoreEarlyLimiter: LimiterDefinition<"ignore-early", typeof ignoreEarlyOptions> = {
  type: "ignore-early",
  description: "Does not count failures of attempts that began before the retry was due.",
  options: ignoreEarlyOptions,
  create: /* @__PURE__ */ builtIn(
    1,
    ({ limiter, forgetAfter }, { clock }) => new IgnoreEarlyLimiter(limiter, forgetAfter, clock),
  ),
  update: (part: IgnoreEarlyLimiter, { limiter, forgetAfter }) => part.change(limiter, forgetAfter),
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
 * `queue.addRateLimited(item)` without `startedAt` judges a failure by the time of the call. So two such calls one
 * after the other count one failure.
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
  return createLimiter(
    ignoreEarlyLimiter,
    { limiter: onePart(limiterKind), duration: durationKind },
    { ...options, limiter },
    { clock: A_CLOCK },
  );
}

/** Milliseconds by which an attempt may begin before it is due, because sums of times are rounded. */
const ROUNDING = 0.001;

/** Retry of a key. */
interface Retry {
  readonly dueAt: number;
  /** Time at which the latest attempt began; `undefined` if its failure has been judged. */
  startedAt: number | undefined;
  /** Whether a failure of the latest attempt is ignored. */
  isEarly: boolean;
}

class Retries {
  /** Latest retry of each key. */
  readonly byKey = new ChurnMap<unknown, Retry>();
  readonly pruner = new Pruner(this.byKey);
  /** Latest key for which `when` was called, and what `uncount` restores. */
  latest: { readonly key: unknown; readonly isEarly: boolean; readonly before: Retry | undefined } | undefined;
}

class IgnoreEarlyLimiter implements RateLimiter {
  #limiter: RateLimiter;
  #forgetAfter: number;
  readonly #clock: Clock;
  readonly #retries = new OfQueues(() => new Retries());

  constructor(limiter: RateLimiter, forgetAfter: number, clock: Clock) {
    this.#limiter = limiter;
    this.#forgetAfter = forgetAfter;
    this.#clock = clock;
  }

  change(limiter: RateLimiter, forgetAfter: number): void {
    this.#limiter = limiter;
    this.#forgetAfter = forgetAfter;
  }

  begin(_item: unknown, key: unknown): void {
    const retry = this.#retries.current.byKey.get(key);
    if (retry !== undefined) judge(retry, retry.startedAt = this.#clock.now());
  }

  ignores(_item: unknown, key: unknown): boolean {
    return this.#retries.current.byKey.get(key)?.isEarly === true;
  }

  when(item: unknown, key: unknown = item, attempt?: FailedStart): number {
    const now = this.#clock.now();
    const retries = this.#retries.current;
    const before = retries.byKey.get(key);
    const isEarly = before !== undefined && judge(before, attempt?.startedAt ?? before.startedAt ?? now);
    if (isEarly) {
      before.startedAt = undefined;
      retries.latest = { key, isEarly, before };
      return Math.max(before.dueAt - now, 0);
    }
    const delay = this.#limiter.when(item, key, attempt);
    retries.latest = { key, isEarly, before };
    retries.pruner.prune(({ dueAt }) => dueAt + this.#forgetAfter <= now);
    const dueAt = now + Math.max(delay, attempt?.minDelay ?? 0);
    retries.byKey.set(key, { dueAt, startedAt: undefined, isEarly: false });
    return delay;
  }

  get forgetAfter(): number | undefined {
    return this.#limiter.forgetAfter;
  }

  uncount(item: unknown, key: unknown = item): void {
    const retries = this.#retries.current;
    const { latest } = retries;
    if (latest === undefined || !isSameKey(latest.key, key)) return this.#limiter.uncount?.(item, key);
    retries.latest = undefined;
    if (latest.isEarly) return;
    if (latest.before === undefined) retries.byKey.delete(key);
    else retries.byKey.set(key, latest.before);
    this.#limiter.uncount?.(item, key);
  }

  forget(item: unknown, key: unknown = item): void {
    this.#retries.current.byKey.delete(key);
    this.#limiter.forget(item, key);
  }

  numRequeues(item: unknown, key: unknown = item): number {
    return this.#limiter.numRequeues(item, key);
  }

  atRest(): boolean {
    for (const { byKey } of this.#retries) if (byKey.size > 0) return false;
    return this.#limiter.atRest?.() === true;
  }
}

/** Judges whether an attempt that began at this time is early. */
function judge(retry: Retry, startedAt: number): boolean {
  return retry.isEarly = retry.dueAt - startedAt > ROUNDING;
}
