/**
 * Limiter with a count per item: a list of delays.
 *
 * Delay: the delay in `delays` whose place is the number of failures of the item; further failures get the last delay.
 *
 * Choose it when the delays are given as a list, such as the retry schedule that a webhook promises.
 *
 * ```json
 * { "type": "steps", "delays": ["5s", "5m", "30m", "2h"] }
 * ```
 *
 * @module
 */

import type { Clock } from "../lib/base/clock.ts";
import type { Duration } from "../lib/base/duration.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import { builtIn } from "../registry/built_in.ts";
import type { Fields, OptionsInput } from "../registry/fields.ts";
import { durationsKind } from "../registry/option_kinds.ts";
import { createCounting } from "./counting_in_code.ts";
import type { LimiterDefinition } from "./definition.ts";
import { type DelayAfter, FailureLimiter } from "./failures.ts";

export type * from "./types.ts";

/** Options of a steps limiter. */
export const stepsOptions = {
  delays: {
    kind: "durations",
    minItems: 1,
    description: "Delay after each failure of an item, in order. The last delay repeats.",
  },
} as const satisfies Fields;

/** Definition of `{ "type": "steps" }`. */
export const steps: LimiterDefinition<"steps", typeof stepsOptions> = {
  type: "steps",
  description: "Takes the delays of an item from a list.",
  options: stepsOptions,
  create: /* @__PURE__ */ builtIn(1, ({ delays }) => new FailureLimiter(oneAfterAnother(delays))),
  update: /* @__PURE__ */ builtIn(1, (limiter: FailureLimiter, { delays }) => limiter.change(oneAfterAnother(delays))),
};

/**
 * Creates a limiter that delays an item by the first of `delays` after its first failure, by the second after its
 * second failure, and so on. The last delay repeats.
 *
 * @example Usage
 * ```ts
 * import { createStepsLimiter } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const limiter = createStepsLimiter({ delays: [5, "1s", "1m"] });
 * assertEquals([1, 2, 3, 4].map(() => limiter.when("a")), [5, 1000, 60_000, 60_000]);
 * ```
 *
 * @typeParam T The type of the items.
 * @param options `delays`: 1 to 1,000 delays, each in milliseconds or a string such as `"5ms"`; `forgetAfter`: time
 * from the end of an item's last delay until its failures are forgotten (must be longer than an attempt takes; default:
 * never); `clock`: the clock for `forgetAfter`.
 * @returns The limiter.
 * @throws {RangeError} If a delay or `forgetAfter` is a number out of range.
 * @throws {TypeError} If `delays` is empty, or an option is unknown, missing, or has the wrong type.
 */
export function createStepsLimiter<T = unknown>(
  options: OptionsInput<typeof stepsOptions> & { forgetAfter?: Duration | undefined; clock?: Clock | undefined },
): RateLimiter<T> {
  return createCounting(steps, { durations: durationsKind }, options);
}

/** Returns the function that computes the delay after a number of failures. */
function oneAfterAnother(delays: readonly number[]): DelayAfter {
  return (failures) => delays[Math.min(failures, delays.length) - 1]!;
}
