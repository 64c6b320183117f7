/**
 * A limiter around another: no delay is longer than a maximum.
 *
 * @module
 */

import { invalidArgument } from "../lib/base/errors.ts";
import { checkOptions, defineLimiter, type LimiterDefinition } from "../registry/definition.ts";
import type { Fields } from "../registry/fields.ts";
import type { Duration } from "../lib/base/duration.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import { isRateLimiter } from "./is_rate_limiter.ts";

export type * from "./types.ts";

/** The options of a max-wait limiter. */
export const maxWaitOptions = {
  limiter: { kind: "limiter", description: "The limiter to ask, as a config or a name." },
  maxDelay: { kind: "duration", description: "The longest an item waits, whatever that limiter says." },
} as const satisfies Fields;

/** The definition of `{ "type": "max-wait" }`. */
export const maxWaitLimiter: LimiterDefinition<"max-wait", typeof maxWaitOptions> = /* @__PURE__ */ defineLimiter({
  type: "max-wait",
  description: "Asks another limiter, but never waits longer than a maximum.",
  options: maxWaitOptions,
  create: ({ limiter, maxDelay }) => new MaxWaitLimiter(limiter, maxDelay),
});

/**
 * Makes a limiter that asks another and cuts its delays at `maxDelay`.
 *
 * client-go's `WithMaxWaitRateLimiter`.
 *
 * @example Usage
 * ```ts
 * import { createBucketLimiter, createMaxWaitLimiter } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const oneAnHour = createBucketLimiter({ rate: 1 / 3600, burst: 1 });
 * const limiter = createMaxWaitLimiter(oneAnHour, 60_000);
 * assertEquals([limiter.when("a"), limiter.when("b")], [0, 60_000]);
 * ```
 *
 * @typeParam T The type of the items.
 * @param limiter The limiter to ask.
 * @param maxDelay The longest delay: milliseconds, or a text such as `"1m"`.
 * @returns The limiter.
 * @throws {RangeError} If `maxDelay` is out of its bounds.
 * @throws {TypeError} If `limiter` is no rate limiter or `maxDelay` no duration.
 */
export function createMaxWaitLimiter<T = unknown>(limiter: RateLimiter<T>, maxDelay: Duration): RateLimiter<T> {
  if (!isRateLimiter(limiter)) {
    throw invalidArgument("create max-wait limiter", "limiter", "must be a rate limiter", limiter);
  }
  const options = checkOptions("create max-wait limiter", { maxDelay: maxWaitOptions.maxDelay }, { maxDelay });
  return new MaxWaitLimiter(limiter, options.maxDelay);
}

class MaxWaitLimiter<T> implements RateLimiter<T> {
  readonly #limiter: RateLimiter<T>;

  constructor(limiter: RateLimiter<T>, readonly maxDelay: number) {
    this.#limiter = limiter;
  }

  when(item: T, key: unknown = item): number {
    return Math.min(this.#limiter.when(item, key), this.maxDelay);
  }

  forget(item: T, key: unknown = item): void {
    this.#limiter.forget(item, key);
  }

  numRequeues(item: T, key: unknown = item): number {
    return this.#limiter.numRequeues(item, key);
  }
}
