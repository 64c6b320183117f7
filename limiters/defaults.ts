/**
 * The limiters to use when there is no reason for another, with client-go's figures.
 *
 * @module
 */

import { requireOptions } from "../lib/base/arguments.ts";
import type { Clock } from "../lib/base/clock.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import { bucketLimiter } from "./bucket.ts";
import { exponentialLimiter } from "./exponential.ts";
import { maxOfLimiter } from "./max_of.ts";

export type * from "./types.ts";

/** The config of the limiter that {@linkcode createDefaultControllerLimiter} makes. */
export const defaultControllerConfig = {
  type: "max-of",
  limiters: [
    { type: "exponential", baseDelay: 5, maxDelay: 1_000_000 },
    { type: "bucket", rate: 10, burst: 100 },
  ],
} as const;

/**
 * Makes the limiter that Kubernetes controllers use: each item waits from 5 ms up to 1000 s, doubling with
 * each failure, and all of them together are retried 10 times a second at most, 100 at once.
 *
 * client-go's `DefaultControllerRateLimiter`.
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
 * @param options Where time comes from.
 * @returns The limiter.
 */
export function createDefaultControllerLimiter<T = unknown>(
  options: { clock?: Clock | undefined } = {},
): RateLimiter<T> {
  requireOptions("create default controller limiter", options, ["clock"]);
  const [{ baseDelay }, bucket] = defaultControllerConfig.limiters;
  return maxOfLimiter.create(
    { limiters: [exponentialFrom(baseDelay), bucketLimiter.create(bucket, options)] },
    options,
  );
}

/**
 * Makes a limiter for items that have nothing to do with each other: each waits from 1 ms up to 1000 s,
 * doubling with each failure.
 *
 * client-go's `DefaultItemBasedRateLimiter`.
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
  return exponentialFrom(1);
}

/** Made by the definition, without the checks of options: most programs need nothing else of them. */
function exponentialFrom(baseDelay: number): RateLimiter {
  return exponentialLimiter.create({ baseDelay, maxDelay: 1_000_000, forgetAfter: undefined }, {});
}
