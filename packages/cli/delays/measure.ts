import type { Clock, RateLimiter } from "@workqueue/core";
import { inspect } from "@workqueue/core/internal";

/** Delays of an item that keeps failing, with the name and the options of the limiter. */
export interface LimiterDelays {
  /** Name of the limiter. */
  readonly title: string;
  /** Type and options, one per line. */
  readonly description: readonly string[];
  /** Delays after the first, second and later failures, in milliseconds. */
  readonly delays: readonly number[];
}

/**
 * Measures the delays of a limiter for an item that keeps failing. Each retry begins when its delay has passed, and
 * fails immediately. Time is virtual. The random numbers are the same in each measurement.
 *
 * @param create Creates the limiter.
 * @param failures Number of failures.
 * @returns The delays, in milliseconds.
 * @throws {RangeError} If the limiter returns a value that is not a delay.
 */
export function measureDelays(
  create: (context: { readonly clock: Clock; readonly random: () => number }) => RateLimiter,
  failures: number,
): number[] {
  let time = 0;
  const clock: Clock = { now: () => time, setTimeout: () => 0, clearTimeout: () => {} };
  const limiter = create({ clock, random: createRandom() });
  return Array.from({ length: failures }, (_, i) => {
    const delay = limiter.when("item");
    if (!Number.isFinite(delay)) {
      throw new RangeError(`after failure ${i + 1}, the limiter returned ${inspect(delay)}, which is not a delay`);
    }
    time += Math.max(delay, 0);
    return Math.max(delay, 0);
  });
}

/** Returns a Lehmer generator of random numbers between 0 and 1 (Park and Miller, CACM 31, 1988). */
function createRandom(): () => number {
  const modulus = 2 ** 31 - 1;
  let state = 1;
  return () => (state = state * 48_271 % modulus) / modulus;
}
