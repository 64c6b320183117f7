/**
 * Limiter that combines others: the longest delay wins.
 *
 * Delay: the longest delay of several limiters.
 *
 * Choose it when several limits apply: each item backs off, and all items together keep to a rate.
 *
 * ```json
 * {
 *   "type": "max-of",
 *   "limiters": [
 *     { "type": "exponential", "baseDelay": "5ms", "maxDelay": "1000s" },
 *     { "type": "bucket", "rate": 1, "burst": 5 }
 *   ]
 * }
 * ```
 *
 * @module
 */

import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import { builtIn } from "../registry/built_in.ts";
import { partList } from "../registry/options_in_code.ts";
import { createLimiter, type LimiterDefinition, type LimiterFields, limiterKind } from "./definition.ts";
import { MaxOfLimiter } from "./max_of_limiter.ts";

export type * from "./types.ts";

/** Options of a max-of limiter. */
export const maxOfOptions = {
  limiters: {
    kind: "limiters",
    minItems: 1,
    description:
      "Limiters to compare, as configs or names. Put ignore-early around max-of: inside it, the others count early failures.",
  },
} as const satisfies LimiterFields;

/** Definition of `{ "type": "max-of" }`. */
export const maxOf: LimiterDefinition<"max-of", typeof maxOfOptions> = {
  type: "max-of",
  description: "Asks several limiters and uses the longest delay.",
  options: maxOfOptions,
  create: /* @__PURE__ */ builtIn(1, ({ limiters }) => new MaxOfLimiter(limiters)),
  update: /* @__PURE__ */ builtIn(1, (limiter: MaxOfLimiter, { limiters }) => limiter.change(limiters)),
};

/**
 * Creates a limiter that calls all the given limiters and returns the longest delay and the highest count.
 *
 * Equivalent to client-go's `MaxOfRateLimiter`. If a bucket is among the limiters, items may be retried in larger
 * bursts than the bucket allows, because longer delays from another limiter may end at the same time.
 *
 * @example Usage
 * ```ts
 * import { createExponentialLimiter, createFastSlowLimiter, createMaxOfLimiter } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const limiter = createMaxOfLimiter(
 *   createExponentialLimiter({ baseDelay: 5, maxDelay: 1000 }),
 *   createFastSlowLimiter({ fastDelay: 8, slowDelay: 9, maxFastAttempts: 10 }),
 * );
 * assertEquals([1, 2, 3].map(() => limiter.when("a")), [8, 10, 20]);
 * ```
 *
 * @typeParam T The type of the items.
 * @param limiters The limiters to combine; at least one.
 * @returns The limiter.
 * @throws {TypeError} If there is no limiter, or an argument is not a rate limiter.
 */
export function createMaxOfLimiter<T = unknown>(...limiters: RateLimiter<T>[]): RateLimiter<T> {
  return createLimiter(maxOf, { limiters: partList(limiterKind) }, { limiters });
}
