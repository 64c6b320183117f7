/**
 * Limiter around another limiter: subtracts a random part from each delay.
 *
 * Delay: the delay of another limiter, minus a random part of at most `spread` of it.
 *
 * Choose it when items that failed together should not come back together. Put it around a backoff, not
 * around a bucket, because jitter would break the bucket's rate.
 *
 * ```json
 * {
 *   "type": "jitter",
 *   "limiter": { "type": "exponential", "baseDelay": "5ms", "maxDelay": "1000s" },
 *   "spread": 0.5
 * }
 * ```
 *
 * @module
 */

import { A_FUNCTION, requireOptions } from "../lib/base/arguments.ts";
import { limiterError } from "../lib/base/errors.ts";
import type { Random } from "../lib/base/random.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import { builtIn } from "../registry/built_in.ts";
import { numberKind } from "../registry/option_kinds.ts";
import { onePart } from "../registry/options_in_code.ts";
import { createLimiter, type LimiterDefinition, type LimiterFields, limiterKind } from "./definition.ts";
import { WrappingLimiter } from "./wrapping_limiter.ts";

export type * from "./types.ts";

/** Options of a jitter limiter. */
export const jitterOptions = {
  limiter: {
    kind: "limiter",
    description: "Limiter whose delays are shortened, as a config or a name. Use a backoff, not a bucket.",
  },
  spread: {
    kind: "number",
    min: 0,
    max: 1,
    description:
      "Largest fraction of a delay that is subtracted. With 1, the result is anything from 0 to the full delay.",
  },
} as const satisfies LimiterFields;

/** Definition of `{ "type": "jitter" }`. */
export const jitter: LimiterDefinition<"jitter", typeof jitterOptions> = {
  type: "jitter",
  description: "Subtracts a random fraction from each delay of another limiter.",
  options: jitterOptions,
  create: /* @__PURE__ */ builtIn(
    1,
    ({ limiter, spread }, { random }) => new JitterLimiter(limiter, spread, random),
  ),
  update: /* @__PURE__ */ builtIn(1, (part: JitterLimiter, { limiter, spread }) => part.change(limiter, spread)),
};

/**
 * Creates a limiter that subtracts a random part, up to `spread`, from each delay of another limiter. Items that failed
 * together are then not retried together.
 *
 * With a `spread` of 1, the result is anything from 0 to the whole delay ("full jitter"). With 0.5, the result is at
 * least half of the delay ("equal jitter"). See Marc Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog,
 * 2015. To combine a jitter with a bucket, put the jitter around a backoff, and put the jitter and the bucket side by
 * side in a max-of limiter. If the jitter were around the bucket, items could be retried faster than the bucket's rate.
 *
 * @example Usage
 * ```ts
 * import { createExponentialLimiter, createJitterLimiter } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const backoff = createExponentialLimiter({ baseDelay: "1s", maxDelay: "1h" });
 * const limiter = createJitterLimiter(backoff, { spread: 0.5, random: () => 0.2 });
 * assertEquals([limiter.when("a"), limiter.when("a")], [900, 1800]);
 * ```
 *
 * @typeParam T The type of the items.
 * @param limiter The limiter whose delays are changed.
 * @param options `spread`: a number from 0 to 1; `random`: returns random numbers from 0 to 1 (default: `Math.random`).
 * @returns The limiter. If `random` returns anything but a number from 0 to 1, the limiter's `when` method throws and
 * does not count the failure. The error is a `RangeError` for a number and a `TypeError` otherwise, with the code
 * `WQ_LIMITER`.
 * @throws {RangeError} If `spread` is a number out of range.
 * @throws {TypeError} If `limiter` is not a rate limiter, or an option is unknown, missing, or has the wrong type.
 */
export function createJitterLimiter<T = unknown>(
  limiter: RateLimiter<T>,
  options: { spread: number; random?: Random | undefined },
): RateLimiter<T> {
  requireOptions("create jitter limiter", options, ["spread", "random"]);
  return createLimiter(
    jitter,
    { limiter: onePart(limiterKind), number: numberKind },
    { ...options, limiter },
    { random: A_FUNCTION },
  );
}

class JitterLimiter extends WrappingLimiter {
  #spread: number;
  readonly #random: Random;

  constructor(limiter: RateLimiter, spread: number, random: Random) {
    super(limiter);
    this.#spread = spread;
    this.#random = random;
  }

  change(limiter: RateLimiter, spread: number): void {
    this.limiter = limiter;
    this.#spread = spread;
  }

  protected override changer(): (delay: number) => number {
    const random = this.#random();
    if (!(typeof random === "number" && random >= 0 && random <= 1)) {
      throw limiterError("spread delay", "random()", "must be a number from 0 to 1", random);
    }
    return (delay) => delay * (1 - this.#spread * random);
  }
}
