/**
 * Limiter with a count per item: exponential backoff.
 *
 * Delay: `baseDelay` after the first failure of an item, doubled with each further failure, at most `maxDelay`.
 *
 * Choose it when a failure is likely to last for a while.
 *
 * ```json
 * { "type": "exponential", "baseDelay": "5ms", "maxDelay": "1000s" }
 * ```
 *
 * @module
 */

import type { Clock } from "../lib/base/clock.ts";
import type { Duration } from "../lib/base/duration.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import { builtIn } from "../registry/built_in.ts";
import type { Fields, OptionsInput } from "../registry/fields.ts";
import { durationKind } from "../registry/option_kinds.ts";
import { createCounting } from "./counting_in_code.ts";
import type { LimiterDefinition } from "./definition.ts";
import { doublingDelay, FailureLimiter } from "./failures.ts";

export type * from "./types.ts";

/** Options of an exponential limiter. */
export const exponentialOptions = {
  baseDelay: { kind: "duration", description: "Delay after an item's first failure." },
  maxDelay: { kind: "duration", description: "Maximum delay, regardless of the number of failures." },
} as const satisfies Fields;

/** Definition of `{ "type": "exponential" }`. */
export const exponential: LimiterDefinition<"exponential", typeof exponentialOptions> = {
  type: "exponential",
  description: "Doubles the delay of an item with each failure.",
  options: exponentialOptions,
  check: ({ baseDelay, maxDelay }) =>
    maxDelay < baseDelay
      ? { option: "maxDelay", rule: `must not be less than 'baseDelay' (${baseDelay} ms)` }
      : undefined,
  create: /* @__PURE__ */ builtIn(
    1,
    ({ baseDelay, maxDelay }) => new FailureLimiter(doublingDelay(baseDelay, maxDelay)),
  ),
  update: /* @__PURE__ */ builtIn(
    1,
    (limiter: FailureLimiter, { baseDelay, maxDelay }) => limiter.change(doublingDelay(baseDelay, maxDelay)),
  ),
};

/**
 * Creates a limiter that doubles an item's delay with each failure, from `baseDelay` after the first failure up to
 * `maxDelay`.
 *
 * Equivalent to client-go's `ItemExponentialFailureRateLimiter`.
 *
 * @example Usage
 * ```ts
 * import { createExponentialLimiter } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const limiter = createExponentialLimiter({ baseDelay: 5, maxDelay: 30 });
 * assertEquals([1, 2, 3, 4].map(() => limiter.when("a")), [5, 10, 20, 30]);
 * assertEquals(limiter.numRequeues("a"), 4);
 *
 * limiter.forget("a");
 * assertEquals(limiter.when("a"), 5);
 * ```
 *
 * @typeParam T The type of the items.
 * @param options `baseDelay` and `maxDelay`: milliseconds, or strings such as `"5ms"`; `forgetAfter`: time from the end
 * of an item's last delay until its failures are forgotten (must be longer than an attempt takes; default: never);
 * `clock`: the clock for `forgetAfter`.
 * @returns The limiter.
 * @throws {RangeError} If an option is a number out of range, or `maxDelay` is less than `baseDelay`.
 * @throws {TypeError} If an option is unknown, missing, or has the wrong type.
 */
export function createExponentialLimiter<T = unknown>(
  options: OptionsInput<typeof exponentialOptions> & { forgetAfter?: Duration | undefined; clock?: Clock | undefined },
): RateLimiter<T> {
  return createCounting(exponential, { duration: durationKind }, options);
}
