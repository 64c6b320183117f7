/**
 * A limiter for each item by itself: exponential backoff.
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
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import type { Fields, OptionsInput } from "../registry/fields.ts";
import { builtIn } from "./built_in.ts";
import { createLimiter, type LimiterDefinition } from "./definition.ts";
import { FailureLimiter, forgetAfterField } from "./failures.ts";

export type * from "./types.ts";

/** The options of an exponential limiter. */
export const exponentialOptions = {
  baseDelay: { kind: "duration", description: "The delay after an item's first failure." },
  maxDelay: { kind: "duration", description: "The longest delay, however often the item failed." },
  forgetAfter: forgetAfterField as typeof forgetAfterField, // or else the declarations that are packed have no type
} as const satisfies Fields;

/** The definition of `{ "type": "exponential" }`. */
export const exponentialLimiter: LimiterDefinition<"exponential", typeof exponentialOptions> = {
  type: "exponential",
  description: "Doubles the delay of an item with each failure.",
  options: exponentialOptions,
  check: ({ baseDelay, maxDelay }) =>
    maxDelay < baseDelay
      ? { option: "maxDelay", rule: `must not be less than 'baseDelay' (${baseDelay} ms)` }
      : undefined,
  create: /* @__PURE__ */ builtIn(
    1,
    ({ baseDelay, maxDelay, forgetAfter }, { clock }) =>
      new FailureLimiter(doublingDelay(baseDelay, maxDelay), forgetAfter, clock),
  ),
  update: (limiter: FailureLimiter, { baseDelay, maxDelay, forgetAfter }) =>
    limiter.change(doublingDelay(baseDelay, maxDelay), forgetAfter),
};

/**
 * Makes a limiter that doubles an item's delay with each failure: `baseDelay` after the first one, at most
 * `maxDelay`.
 *
 * client-go's `ItemExponentialFailureRateLimiter`.
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
 * @param options `baseDelay` and `maxDelay`: milliseconds, or texts such as `"5ms"`; `forgetAfter`: how long after the
 * end of its last delay an item's failures are forgotten, which has to be longer than a try takes, by default never;
 * `clock`: where time comes from, for `forgetAfter`.
 * @returns The limiter.
 * @throws {RangeError} If an option is out of its bounds, or `maxDelay` is less than `baseDelay`.
 * @throws {TypeError} If an option is of the wrong type, unknown or missing.
 */
export function createExponentialLimiter<T = unknown>(
  options: OptionsInput<typeof exponentialOptions> & { clock?: Clock | undefined },
): RateLimiter<T> {
  return createLimiter(exponentialLimiter, options, "clock");
}

/** 2 to the power of more than this is infinite, and 0 times that is not a number. */
const MAX_EXPONENT = 1023;

/** Makes the function that says how long an item waits after so many failures. */
function doublingDelay(baseDelay: number, maxDelay: number): (failures: number) => number {
  return (failures) => Math.min(baseDelay * 2 ** Math.min(failures - 1, MAX_EXPONENT), maxDelay);
}
