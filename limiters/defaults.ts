/**
 * Default limiters, with client-go's values. Created without their definitions, so that programs that use no other
 * limiter don't contain descriptions and checks of options.
 *
 * @module
 */

import { A_CLOCK, requireRules } from "../lib/base/arguments.ts";
import type { Clock } from "../lib/base/clock.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import { TokenLevel } from "../lib/tokens/token_level.ts";
import { TokenLimiter } from "./bucket_limiter.ts";
import { doublingDelay, FailureLimiter } from "./failures.ts";
import { MaxOfLimiter } from "./max_of_limiter.ts";

export type * from "./types.ts";

/** Config of the limiter that {@linkcode createDefaultControllerLimiter} creates. */
export const defaultControllerConfig = {
  type: "max-of",
  limiters: [
    { type: "exponential", baseDelay: 5, maxDelay: 1_000_000 },
    { type: "bucket", rate: 10, burst: 100 },
  ],
} as const;

/**
 * Creates the limiter that Kubernetes controllers use. The delay of each item is 5 ms at first and doubles with each
 * failure, up to 1000 s. Across all items, there are at most 10 retries per second on average, and at most 100 at once.
 *
 * Equivalent to client-go's `DefaultControllerRateLimiter`.
 *
 * @example Usage
 * ```ts
 * import { createDefaultControllerLimiter } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const limiter = createDefaultControllerLimiter();
 * assertEquals([1, 2, 3].map(() => limiter.when("a")), [5, 10, 20]);
 * ```
 *
 * @typeParam T The type of the items.
 * @param options `clock`: the clock of the bucket.
 * @returns The limiter.
 * @throws {TypeError} If an option is unknown, or `clock` is not a clock.
 */
export function createDefaultControllerLimiter<T = unknown>(
  options: { clock?: Clock | undefined } = {},
): RateLimiter<T> {
  requireRules("create default controller limiter", options, { clock: A_CLOCK });
  const [{ baseDelay, maxDelay }, { rate, burst }] = defaultControllerConfig.limiters;
  const bucket = new TokenLimiter(new TokenLevel(rate, burst, options.clock));
  return new MaxOfLimiter([new FailureLimiter(doublingDelay(baseDelay, maxDelay)), bucket]);
}

/**
 * Creates a limiter that delays each item independently of all others. The delay of each item is 1 ms at first and
 * doubles with each failure, up to 1000 s.
 *
 * Equivalent to client-go's `DefaultItemBasedRateLimiter`.
 *
 * @example Usage
 * ```ts
 * import { createDefaultItemLimiter } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const limiter = createDefaultItemLimiter();
 * assertEquals([1, 2, 3].map(() => limiter.when("a")), [1, 2, 4]);
 * ```
 *
 * @typeParam T The type of the items.
 * @returns The limiter.
 */
export function createDefaultItemLimiter<T = unknown>(): RateLimiter<T> {
  return new FailureLimiter(doublingDelay(1, 1_000_000));
}
