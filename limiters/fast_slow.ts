/**
 * A limiter for each item by itself: some quick retries, then slow ones.
 *
 * Delay: `fastDelay` after each of the item's first `maxFastAttempts` failures, then `slowDelay`.
 *
 * Choose it when most failures are brief, and the rest need a person.
 *
 * ```json
 * { "type": "fast-slow", "fastDelay": "100ms", "slowDelay": "1m", "maxFastAttempts": 5 }
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

/** The options of a fast-slow limiter. */
export const fastSlowOptions = {
  fastDelay: { kind: "duration", description: "The delay after each of an item's first failures." },
  slowDelay: { kind: "duration", description: "The delay after each further failure." },
  maxFastAttempts: { kind: "integer", min: 0, description: "How many failures get the fast delay." },
  forgetAfter: forgetAfterField as typeof forgetAfterField, // or else the declarations that are packed have no type
} as const satisfies Fields;

/** The definition of `{ "type": "fast-slow" }`. */
export const fastSlowLimiter: LimiterDefinition<"fast-slow", typeof fastSlowOptions> = {
  type: "fast-slow",
  description: "Retries an item quickly a few times, then slowly.",
  options: fastSlowOptions,
  create: /* @__PURE__ */ builtIn(
    1,
    ({ forgetAfter, ...delays }, { clock }) => new FailureLimiter(fastThenSlow(delays), forgetAfter, clock),
  ),
  update: (limiter: FailureLimiter, { forgetAfter, ...delays }) => limiter.change(fastThenSlow(delays), forgetAfter),
};

/**
 * Makes a limiter that lets an item wait `fastDelay` after each of its first `maxFastAttempts` failures and
 * `slowDelay` after each further one.
 *
 * client-go's `ItemFastSlowRateLimiter`.
 *
 * @example Usage
 * ```ts
 * import { createFastSlowLimiter } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const limiter = createFastSlowLimiter({ fastDelay: 5, slowDelay: 10_000, maxFastAttempts: 2 });
 * assertEquals([1, 2, 3].map(() => limiter.when("a")), [5, 5, 10_000]);
 * ```
 *
 * @typeParam T The type of the items.
 * @param options `fastDelay` and `slowDelay`: milliseconds, or texts such as `"5ms"`; `maxFastAttempts`: a
 * non-negative integer; `forgetAfter`: how long after the end of its last delay an item's failures are forgotten, which
 * has to be longer than a try takes, by default never; `clock`: where time comes from, for `forgetAfter`.
 * @returns The limiter.
 * @throws {RangeError} If an option is out of its bounds.
 * @throws {TypeError} If an option is of the wrong type, unknown or missing.
 */
export function createFastSlowLimiter<T = unknown>(
  options: OptionsInput<typeof fastSlowOptions> & { clock?: Clock | undefined },
): RateLimiter<T> {
  return createLimiter(fastSlowLimiter, options, "clock");
}

/** Makes the function that says how long an item waits after so many failures. */
function fastThenSlow(
  { fastDelay, slowDelay, maxFastAttempts }: { fastDelay: number; slowDelay: number; maxFastAttempts: number },
): (failures: number) => number {
  return (failures) => failures <= maxFastAttempts ? fastDelay : slowDelay;
}
