/**
 * Limiter around another limiter: caps each delay at a maximum.
 *
 * Delay: the delay of another limiter, at most `maxDelay`.
 *
 * Choose it when no item may be delayed longer than a maximum.
 *
 * ```json
 * {
 *   "type": "max-wait",
 *   "limiter": { "type": "exponential", "baseDelay": "5ms", "maxDelay": "1000s" },
 *   "maxDelay": "10s"
 * }
 * ```
 *
 * @module
 */

import type { Duration } from "../lib/base/duration.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import { builtIn } from "../registry/built_in.ts";
import { durationKind } from "../registry/option_kinds.ts";
import { onePart } from "../registry/options_in_code.ts";
import { createLimiter, type LimiterDefinition, type LimiterFields, limiterKind } from "./definition.ts";
import { WrappingLimiter } from "./wrapping_limiter.ts";

export type * from "./types.ts";

/** Options of a max-wait limiter. */
export const maxWaitOptions = {
  limiter: { kind: "limiter", description: "Limiter whose delays are capped, as a config or a name." },
  maxDelay: { kind: "duration", description: "Maximum delay, whatever the other limiter returns." },
} as const satisfies LimiterFields;

/** Definition of `{ "type": "max-wait" }`. */
export const maxWait: LimiterDefinition<"max-wait", typeof maxWaitOptions> = {
  type: "max-wait",
  description: "Caps the delays of another limiter at a maximum.",
  options: maxWaitOptions,
  create: /* @__PURE__ */ builtIn(1, ({ limiter, maxDelay }) => new MaxWaitLimiter(limiter, maxDelay)),
  update: /* @__PURE__ */ builtIn(1, (part: MaxWaitLimiter, { limiter, maxDelay }) => part.change(limiter, maxDelay)),
};

/**
 * Creates a limiter that caps the delays of another limiter at `maxDelay`.
 *
 * Equivalent to client-go's `WithMaxWaitRateLimiter`.
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
 * @param limiter The limiter whose delays are capped.
 * @param maxDelay The longest delay: milliseconds, or a string such as `"1m"`.
 * @returns The limiter.
 * @throws {RangeError} If `maxDelay` is a number out of range.
 * @throws {TypeError} If `limiter` is not a rate limiter, or `maxDelay` is not a duration.
 */
export function createMaxWaitLimiter<T = unknown>(limiter: RateLimiter<T>, maxDelay: Duration): RateLimiter<T> {
  return createLimiter(maxWait, { limiter: onePart(limiterKind), duration: durationKind }, {
    limiter,
    maxDelay,
  });
}

class MaxWaitLimiter extends WrappingLimiter {
  #maxDelay: number;

  constructor(limiter: RateLimiter, maxDelay: number) {
    super(limiter);
    this.#maxDelay = maxDelay;
  }

  change(limiter: RateLimiter, maxDelay: number): void {
    this.limiter = limiter;
    this.#maxDelay = maxDelay;
  }

  protected override changer(): (delay: number) => number {
    return (delay) => Math.min(delay, this.#maxDelay);
  }
}
