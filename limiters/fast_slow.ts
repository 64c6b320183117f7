/**
 * Limiter with a count per item: some quick retries, then slow ones.
 *
 * Delay: `fastDelay` after each of the item's first `maxFastAttempts` failures, then `slowDelay`.
 *
 * Choose it when most failures are brief, and the others need a person to fix them.
 *
 * ```json
 * { "type": "fast-slow", "fastDelay": "100ms", "slowDelay": "1m", "maxFastAttempts": 5 }
 * ```
 *
 * @module
 */

import type { Clock } from "../lib/base/clock.ts";
import type { Duration } from "../lib/base/duration.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import { builtIn } from "../registry/built_in.ts";
import type { Fields, OptionsInput } from "../registry/fields.ts";
import { durationKind, integerKind } from "../registry/option_kinds.ts";
import { createCounting } from "./counting_in_code.ts";
import type { LimiterDefinition } from "./definition.ts";
import { type DelayAfter, FailureLimiter } from "./failures.ts";

export type * from "./types.ts";

/** Options of a fast-slow limiter. */
export const fastSlowOptions = {
  fastDelay: { kind: "duration", description: "Delay after each of an item's first failures." },
  slowDelay: { kind: "duration", description: "Delay after each further failure." },
  maxFastAttempts: { kind: "integer", min: 0, description: "Number of failures that get the fast delay." },
} as const satisfies Fields;

/** Definition of `{ "type": "fast-slow" }`. */
export const fastSlow: LimiterDefinition<"fast-slow", typeof fastSlowOptions> = {
  type: "fast-slow",
  description: "Retries an item quickly a few times, then slowly.",
  options: fastSlowOptions,
  create: /* @__PURE__ */ builtIn(1, (delays) => new FailureLimiter(fastThenSlow(delays))),
  update: /* @__PURE__ */ builtIn(1, (limiter: FailureLimiter, delays) => limiter.change(fastThenSlow(delays))),
};

/**
 * Creates a limiter that delays an item by `fastDelay` after each of its first `maxFastAttempts` failures and by
 * `slowDelay` after each further failure.
 *
 * Equivalent to client-go's `ItemFastSlowRateLimiter`.
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
 * @param options `fastDelay` and `slowDelay`: milliseconds, or strings such as `"5ms"`; `maxFastAttempts`: a
 * non-negative integer; `forgetAfter`: time from the end of an item's last delay until its failures are forgotten (must
 * be longer than an attempt takes; default: never); `clock`: the clock for `forgetAfter`.
 * @returns The limiter.
 * @throws {RangeError} If an option is a number out of range.
 * @throws {TypeError} If an option is unknown, missing, or has the wrong type.
 */
export function createFastSlowLimiter<T = unknown>(
  options: OptionsInput<typeof fastSlowOptions> & { forgetAfter?: Duration | undefined; clock?: Clock | undefined },
): RateLimiter<T> {
  return createCounting(fastSlow, { duration: durationKind, integer: integerKind }, options);
}

/** Returns the function that computes the delay after a number of failures. */
function fastThenSlow(
  { fastDelay, slowDelay, maxFastAttempts }: { fastDelay: number; slowDelay: number; maxFastAttempts: number },
): DelayAfter {
  return (failures) => failures <= maxFastAttempts ? fastDelay : slowDelay;
}
