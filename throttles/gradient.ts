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
import type { Throttle } from "../lib/contracts/throttle.ts";
import { builtIn } from "../registry/built_in.ts";
import type { Fields, OptionsInput, OptionsOf } from "../registry/fields.ts";
import { integerKind, numberKind } from "../registry/option_kinds.ts";
import { AdaptiveThrottle } from "./adaptive_throttle.ts";
import { checkBounds, initialField, maxField, minField } from "./bounds.ts";
import { createThrottle, type ThrottleDefinition } from "./definition.ts";

export type * from "./types.ts";

/** Smallest number of successes in a round. */
const MIN_ROUND = 10;
/** Number of rounds whose durations are averaged before the first probe. */
const WARM_UP = 10;
/** Share of the limit that a probe allows. */
const PROBE = 0.25;
/** Smallest number of successes in a probe. */
const MIN_PROBE = 20;
/** Weight of a probe in the usual duration. */
const PROBE_WEIGHT = 0.15;
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
    default: 200,
    description: "Number of rounds after which the usual duration is measured again, with a quarter of the limit.",
  },
} as const satisfies Fields;

/** Definition of `{ "type": "gradient" }`. */
export const gradient: ThrottleDefinition<"gradient", typeof gradientOptions> = {
  type: "gradient",
  description: "Adapts the number of attempts that run at once to their durations, compared to the usual duration.",
  options: gradientOptions,
  check: checkBounds,
  create: (options, { clock }) => new GradientThrottle(options, clock),
  update: /* @__PURE__ */ builtIn(1, (throttle: GradientThrottle, options) => throttle.change(options)),
};

/**
 * Creates a throttle that adapts the number of attempts that run at once to how long they take. The limit follows
 * `Gradient2Limit` of Netflix's [concurrency-limits](https://github.com/Netflix/concurrency-limits). Probes measure the
 * usual duration, as they measure the round-trip time in BBR (Cardwell et al., *BBR: Congestion-Based Congestion
 * Control*, ACM Queue 14, 2016). In `Gradient2Limit`, the usual duration is an average of all durations. So it grows
 * with the queue that the limit itself causes, and under a constant backlog the limit climbs to its maximum.
 *
 * The limit is adapted after each round: as many successes as the limit allows at once, but at least 10. The gradient
 * is the usual duration times `tolerance`, divided by the mean duration of the round; at least 0.5 and at most 1. The
 * limit moves by the share `smoothing` towards the limit times the gradient plus `queueSize`. The limit stays if less
 * than half of it was in use.
 *
 * After the first 10 rounds, and then after every `longWindow` rounds, a probe lowers the limit to a quarter, until as
 * many attempts have succeeded as the limit allowed, but at least 20. The usual duration moves by 15 % towards the
 * mean of these attempts. The usual duration also follows rounds in which less than half of the limit was in use. It
 * shrinks while rounds take less than half of the usual duration.
 *
 * If an attempt is overloaded (see {@linkcode WorkerOptions.isOverload}), the limit shrinks by a tenth, at most once in
 * the mean duration of an attempt. Other failures change nothing.
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
 * `smoothing`, `longWindow`: as above, by default 1.5, 4, 0.2 and 200; `clock`: the clock.
 * @returns The throttle.
 * @throws {RangeError} If an option is a number out of range, or the bounds contradict each other.
 * @throws {TypeError} If an option is unknown, missing, or has the wrong type.
 */
export function createGradientThrottle(
  options: OptionsInput<typeof gradientOptions> & { clock?: Clock | undefined },
): Throttle {
  return createThrottle(gradient, { integer: integerKind, number: numberKind }, options);
}

/** Successes since the limit was adapted: the sum of their durations, their number, and the most permits at once. */
const newRound = () => ({ sum: 0, count: 0, inUse: 0 });

class GradientThrottle extends AdaptiveThrottle<OptionsOf<typeof gradientOptions>> {
  #round = newRound();
  /** Usual duration of a round, in milliseconds. */
  #usual = 0;
  /** Number of rounds since the last probe; before the first probe, minus the number of rounds until then. */
  #age = -WARM_UP;
  /** Limit after the probe; `undefined` if the usual duration is not being measured. */
  #afterProbe: number | undefined = undefined;

  protected get decrease(): number {
    return DECREASE;
  }

  protected override shrink(): void {
    if (this.#afterProbe !== undefined) this.#afterProbe *= DECREASE;
    super.shrink();
  }

  /** Takes the mean of a round of successes as one sample, because single durations vary too much. */
  protected succeeded(durationMs: number, inUse: number): void {
    const afterProbe = this.#afterProbe;
    if (afterProbe !== undefined && inUse > Math.floor(this.limit)) return; // began before the probe
    const round = this.#round;
    round.sum += durationMs;
    round.count++;
    round.inUse = Math.max(round.inUse, inUse);
    const least = afterProbe === undefined ? MIN_ROUND : MIN_PROBE;
    if (round.count < Math.max(Math.floor(afterProbe ?? this.limit), least)) return;
    this.#round = newRound();
    const duration = round.sum / round.count;
    if (afterProbe === undefined) this.#adapt(duration, round.inUse);
    else {
      this.#usual += (duration - this.#usual) * PROBE_WEIGHT;
      this.#afterProbe = undefined;
      this.moveTo(afterProbe);
    }
  }

  #adapt(duration: number, inUse: number): void {
    const { longWindow, tolerance, queueSize, smoothing } = this.options;
    const { limit } = this;
    const isInUse = inUse >= limit / 2;
    this.#age++;
    if (this.#age <= 0) this.#usual += (duration - this.#usual) / (WARM_UP + this.#age);
    else if (!isInUse) this.#usual += (duration - this.#usual) / longWindow;
    if (this.#usual > 2 * duration) this.#usual *= RECOVERY;
    if (!isInUse) return;
    const gradient = Math.min(Math.max(tolerance * this.#usual / duration || 1, MIN_GRADIENT), 1); // 0 / 0 counts as 1
    this.moveTo(limit * (1 - smoothing) + (limit * gradient + queueSize) * smoothing);
    if (this.#age === 0 || this.#age >= longWindow) this.#probe();
  }

  /** Lowers the limit until enough attempts have shown the duration without the limit's own queueing. */
  #probe(): void {
    this.#age = 0;
    this.#afterProbe = this.limit;
    this.moveTo(this.limit * PROBE);
  }
}
