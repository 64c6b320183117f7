/**
 * Throttle that finds out how many attempts a backend can work on: additive increase, multiplicative decrease.
 *
 * Effect: allows one more attempt at once after each round of successes, and a tenth fewer when the backend is
 * overloaded.
 *
 * Choose it when a backend says that it is overloaded (429, 503, timeouts), and its capacity is unknown or changes.
 *
 * ```json
 * { "type": "aimd", "min": 1, "max": 100 }
 * ```
 *
 * @module
 */

import type { Clock } from "../lib/base/clock.ts";
import type { Throttle } from "../lib/contracts/throttle.ts";
import { builtIn } from "../registry/built_in.ts";
import type { Fields, OptionsInput, OptionsOf } from "../registry/fields.ts";
import { integerKind, numberKind } from "../registry/option_kinds.ts";
import { AdaptiveThrottle } from "./adaptive_throttle.ts";
import { checkBounds, initialField, maxField, minField } from "./bounds.ts";
import { createThrottle, type ThrottleDefinition } from "./definition.ts";

export type * from "./types.ts";

/** Share of the limit that must be in use for the limit to grow. */
const IN_USE = 0.8;

/** Options of an aimd throttle. */
export const aimdOptions = {
  min: minField as typeof minField, // without the casts, the packed declarations lack the types
  max: maxField as typeof maxField,
  initial: initialField as typeof initialField,
  increase: {
    kind: "number",
    min: 0.001,
    default: 1,
    description: "Number by which the limit grows after as many successes as the limit allows at once.",
  },
  decrease: {
    kind: "number",
    min: 0.1,
    max: 0.99,
    default: 0.9,
    description: "Factor by which the limit shrinks when the backend is overloaded.",
  },
} as const satisfies Fields;

/** Definition of `{ "type": "aimd" }`. */
export const aimd: ThrottleDefinition<"aimd", typeof aimdOptions> = {
  type: "aimd",
  description: "Adapts the number of attempts that run at once: one more after successes, a tenth fewer on overload.",
  options: aimdOptions,
  check: checkBounds,
  create: (options, { clock }) => new AimdThrottle(options, clock),
  update: /* @__PURE__ */ builtIn(1, (throttle: AimdThrottle, options) => throttle.change(options)),
};

/**
 * Creates a throttle that adapts the number of attempts that run at once, by additive increase and multiplicative
 * decrease: Chiu and Jain, *Analysis of the Increase and Decrease Algorithms for Congestion Avoidance in Computer
 * Networks* (1989).
 *
 * The limit grows by `increase` after as many successes as the limit allows at once, and only while at least 80 % of it
 * is in use. If an attempt is overloaded, the limit shrinks by the factor `decrease`, at most once in the mean duration
 * of an attempt. An attempt is overloaded if it timed out, if its handler threw a `RetryAfterError`, or if the pool's
 * `isOverload` says so. Other failures change nothing.
 *
 * @example Usage
 * ```ts
 * import { createExponentialLimiter, createRateLimitingQueue, RetryAfterError, runWorkers } from "@workqueue/core";
 * import { createAimdThrottle } from "@workqueue/core/throttles";
 * import { assertEquals } from "@std/assert";
 *
 * const throttle = createAimdThrottle({ min: 1, max: 50, initial: 10 });
 * const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 5, maxDelay: 1000 }));
 * runWorkers(queue, () => {
 *   throw new RetryAfterError("30s"); // the backend answered 429
 * }, { throttle, concurrency: 50, onError() {} });
 * queue.add("a");
 * await queue.shutDownWithDrain();
 * assertEquals(throttle.snapshot!().limit, 9);
 * ```
 *
 * @param options `min` and `max`: bounds of the limit, positive integers, by default 1 and none; `initial`: the limit
 * at first, by default `min`; `increase`: by default 1; `decrease`: from 0.1 to 0.99, by default 0.9; `clock`: the
 * clock.
 * @returns The throttle.
 * @throws {RangeError} If an option is a number out of range, or the bounds contradict each other.
 * @throws {TypeError} If an option is unknown, missing, or has the wrong type.
 */
export function createAimdThrottle(
  options: OptionsInput<typeof aimdOptions> & { clock?: Clock | undefined },
): Throttle {
  return createThrottle(aimd, { integer: integerKind, number: numberKind }, options);
}

class AimdThrottle extends AdaptiveThrottle<OptionsOf<typeof aimdOptions>> {
  protected get decrease(): number {
    return this.options.decrease;
  }

  protected succeeded(_durationMs: number, inUse: number): void {
    if (inUse >= IN_USE * Math.floor(this.limit)) this.moveTo(this.limit + this.options.increase / this.limit);
  }
}
