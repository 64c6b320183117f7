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
import { steadyClock } from "../lib/base/steady_clock.ts";
import type { AttemptResult, Throttle } from "../lib/contracts/throttle.ts";
import type { Fields, OptionsInput, OptionsOf } from "../registry/fields.ts";
import { integerKind, numberKind } from "../registry/option_kinds.ts";
import { boundFields, checkBounds } from "./bounds.ts";
import { createThrottle, type ThrottleDefinition } from "./definition.ts";
import { LimitedThrottle } from "./limited_throttle.ts";

export type * from "./types.ts";

/** Number of attempts whose durations are averaged as they are, before later ones count more. */
const WARM_UP = 10;
/** Factor by which the usual duration shrinks while attempts take less than half of it. */
const RECOVERY = 0.95;
/** Smallest gradient, so that one slow attempt doesn't stop everything. */
const MIN_GRADIENT = 0.5;
/** Factor by which the limit shrinks when an attempt is overloaded. */
const DECREASE = 0.9;

/** Options of a gradient throttle. */
export const gradientOptions = {
  ...boundFields,
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
    description: "Weight of the newest attempt in the limit.",
  },
  longWindow: {
    kind: "integer",
    min: 1,
    default: 600,
    description: "Number of attempts, about, over which the usual duration is taken.",
  },
} as const satisfies Fields;

/** Definition of `{ "type": "gradient" }`. */
export const gradientThrottle: ThrottleDefinition<"gradient", typeof gradientOptions, GradientThrottle> = {
  type: "gradient",
  description: "Adapts the number of attempts that run at once to how long they take, compared to what is usual.",
  options: gradientOptions,
  check: checkBounds,
  create: (options, { clock }) => new GradientThrottle(options, steadyClock(clock)),
  update: (throttle, options) => throttle.change(options),
};

/**
 * Creates a throttle that adapts the number of attempts that run at once to how long they take: the algorithm
 * `Gradient2Limit` of Netflix's [concurrency-limits](https://github.com/Netflix/concurrency-limits).
 *
 * After each success, the gradient is the usual duration times `tolerance`, divided by the duration of this attempt; at
 * least 0.5 and at most 1. The limit moves by the share `smoothing` towards the limit times the gradient plus
 * `queueSize`. The limit stays if less than half of it was in use. The usual duration is an exponential average over
 * `longWindow` attempts, which shrinks faster while attempts take less than half of it. If an attempt is overloaded
 * (see {@linkcode WorkerOptions.isOverload}), the limit shrinks by a tenth, at most once in the usual duration. Other
 * failures change nothing.
 *
 * @example Usage
 * ```ts
 * import { createGradientThrottle } from "@workqueue/core/throttles";
 * import { assertEquals } from "@std/assert";
 *
 * const throttle = createGradientThrottle({ min: 1, max: 50, initial: 10 });
 * for (let i = 0; i < 40; i++) {
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

type Options = OptionsOf<typeof gradientOptions>;

class GradientThrottle extends LimitedThrottle {
  #options: Options;
  readonly #clock: Clock;
  /** Usual duration of an attempt, in milliseconds. */
  #usual = 0;
  #count = 0;
  #shrunkAt = -Infinity;

  constructor(options: Options, clock: Clock) {
    super(options.initial ?? options.min);
    this.#options = options;
    this.#clock = clock;
  }

  change(options: Options): void {
    this.#options = options;
    this.#moveTo(this.limit);
  }

  protected learn({ outcome, durationMs }: AttemptResult, inUse: number): void {
    if (outcome === "succeeded") this.#learn(durationMs, inUse);
    else if (outcome === "overloaded") this.#shrink();
  }

  #learn(durationMs: number, inUse: number): void {
    const { longWindow, tolerance, queueSize, smoothing } = this.#options;
    const weight = ++this.#count <= WARM_UP ? 1 / this.#count : 2 / (longWindow + 1);
    this.#usual += (durationMs - this.#usual) * weight;
    const usual = this.#usual;
    if (usual > 2 * durationMs) this.#usual *= RECOVERY;
    const { limit } = this;
    if (inUse < limit / 2) return;
    const gradient = Math.min(Math.max(tolerance * usual / durationMs || 1, MIN_GRADIENT), 1); // 0 / 0 is 1
    this.#moveTo(limit * (1 - smoothing) + (limit * gradient + queueSize) * smoothing);
  }

  #shrink(): void {
    const now = this.#clock.now();
    if (now - this.#shrunkAt < this.#usual) return;
    this.#shrunkAt = now;
    this.#moveTo(this.limit * DECREASE);
  }

  #moveTo(limit: number): void {
    const { min, max } = this.#options;
    this.limit = Math.min(Math.max(limit, min), max);
  }
}
