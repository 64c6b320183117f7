/**
 * Throttle that finds out how many attempts a backend can work on from how long they take.
 *
 * Effect: allows fewer attempts at once while attempts take longer than usual, and more while they don't.
 *
 * Choose it when a backend becomes slow under load before it refuses anything.
 *
 * ```json
 * { "type": "gradient", "min": 1, "max": 100 }
 * ```
 *
 * @module
 */

import type { Clock } from "../lib/base/clock.ts";
import { systemClock } from "../lib/base/clock.ts";
import type { Throttle } from "../lib/contracts/throttle.ts";
import type { Fields, OptionsInput, OptionsOf } from "../registry/fields.ts";
import { integerKind, numberKind } from "../registry/option_kinds.ts";
import { AdaptiveThrottle } from "./adaptive_throttle.ts";
import { checkBounds, initialField, maxField, minField } from "./bounds.ts";
import { createThrottle, type ThrottleDefinition } from "./definition.ts";

export type * from "./types.ts";

/** Smallest number of successes in a round. */
const MIN_ROUND = 10;
/** Number of rounds whose durations are averaged as they are, before later ones count more. */
const WARM_UP = 10;
/** Factor by which the usual duration shrinks while rounds take less than half of it. */
const RECOVERY = 0.95;
/** Smallest gradient, so that one slow attempt doesn't stop everything. */
const MIN_GRADIENT = 0.5;
/** Factor by which the limit shrinks when an attempt is overloaded. */
const DECREASE = 0.9;

/** Options of a gradient throttle. */
export const gradientOptions = {
  min: minField as typeof minField, // without the casts, the packed declarations lack the types
  max: maxField as typeof maxField,
  initial: initialField as typeof initialField,
  tolerance: {
    kind: "number",
    min: 1,
    default: 1.5,
    description: "How many times longer than usual attempts may take before the limit shrinks.",
  },
  queueSize: {
    kind: "integer",
    min: 1,
    default: 4,
    description: "Number by which the limit may exceed what the backend works on at once, so that it can grow.",
  },
  smoothing: {
    kind: "number",
    min: 0.001,
    max: 1,
    default: 0.2,
    description: "Weight of the newest round in the limit.",
  },
  longWindow: {
    kind: "integer",
    min: 1,
    default: 600,
    description: "Number of rounds, about, over which the usual duration is taken.",
  },
} as const satisfies Fields;

/** Definition of `{ "type": "gradient" }`. */
export const gradientThrottle: ThrottleDefinition<"gradient", typeof gradientOptions> = {
  type: "gradient",
  description: "Adapts the number of attempts that run at once to how long they take, compared to what is usual.",
  options: gradientOptions,
  check: checkBounds,
  create: (options, { clock = systemClock }) => new GradientThrottle(options, clock),
  update: (throttle: GradientThrottle, options) => throttle.change(options),
};

/**
 * Creates a throttle that adapts the number of attempts that run at once to how long they take: the algorithm
 * `Gradient2Limit` of Netflix's [concurrency-limits](https://github.com/Netflix/concurrency-limits).
 *
 * The limit is adapted after each round: as many successes as the limit allows at once, but at least 10. The gradient
 * is the usual duration times `tolerance`, divided by the mean duration of the round; at least 0.5 and at most 1. The
 * limit moves by the share `smoothing` towards the limit times the gradient plus
 * `queueSize`. The limit stays if less than half of it was in use. The usual duration is an exponential average over
 * `longWindow` rounds, which shrinks faster while rounds take less than half of it. If an attempt is overloaded
 * (see {@linkcode WorkerOptions.isOverload}), the limit shrinks by a tenth, at most once in the mean duration of an
 * attempt. Other failures change nothing.
 *
 * @example Usage
 * ```ts
 * import { createGradientThrottle } from "@workqueue/core/throttles";
 * import { assertEquals } from "@std/assert";
 *
 * const throttle = createGradientThrottle({ min: 1, max: 50, initial: 10 });
 * for (let i = 0; i < 100; i++) {
 *   const permits = Array.from({ length: throttle.snapshot!().limit }, () => throttle.acquire());
 *   for (const permit of permits) {
 *     if (typeof permit !== "number") permit.end({ outcome: "succeeded", durationMs: 20 });
 *   }
 * }
 * assertEquals(throttle.snapshot!().limit, 50);
 * ```
 *
 * @param options `min`, `max` and `initial`: as for {@linkcode createAimdThrottle}; `tolerance`, `queueSize`,
 * `smoothing`, `longWindow`: as above, by default 1.5, 4, 0.2 and 600; `clock`: the clock.
 * @returns The throttle.
 * @throws {RangeError} If an option is a number out of range, or the bounds contradict each other.
 * @throws {TypeError} If an option is unknown, missing, or has the wrong type.
 */
export function createGradientThrottle(
  options: OptionsInput<typeof gradientOptions> & { clock?: Clock | undefined },
): Throttle {
  return createThrottle(gradientThrottle, { integer: integerKind, number: numberKind }, options);
}

/** Successes since the limit was adapted: the sum of their durations, their number, and the most permits at once. */
const newRound = () => ({ sum: 0, count: 0, inUse: 0 });

class GradientThrottle extends AdaptiveThrottle<OptionsOf<typeof gradientOptions>> {
  #round = newRound();
  /** Usual duration of a round, in milliseconds. */
  #usual = 0;
  /** Number of rounds. */
  #count = 0;
  /** Sum of the durations of the first rounds. */
  #sum = 0;

  protected get decrease(): number {
    return DECREASE;
  }

  /** Takes the mean of a round of successes as one sample, because single durations vary too much. */
  protected succeeded(durationMs: number, inUse: number): void {
    const round = this.#round;
    round.sum += durationMs;
    round.count++;
    round.inUse = Math.max(round.inUse, inUse);
    if (round.count < Math.max(Math.floor(this.limit), MIN_ROUND)) return;
    this.#round = newRound();
    this.#adapt(round.sum / round.count, round.inUse);
  }

  #adapt(duration: number, inUse: number): void {
    const { longWindow, tolerance, queueSize, smoothing } = this.options;
    if (++this.#count <= WARM_UP) this.#usual = (this.#sum += duration) / this.#count;
    else this.#usual += (duration - this.#usual) * 2 / (longWindow + 1);
    const usual = this.#usual;
    if (usual > 2 * duration) this.#usual *= RECOVERY;
    const { limit } = this;
    if (inUse < limit / 2) return;
    const gradient = Math.min(Math.max(tolerance * usual / duration || 1, MIN_GRADIENT), 1); // 0 / 0 is 1
    this.moveTo(limit * (1 - smoothing) + (limit * gradient + queueSize) * smoothing);
  }
}
