import type { Clock, RateLimiter } from "@workqueue/core";
import { inspect } from "@workqueue/core/internal";

/** Delays that a limiter gives to one item that keeps failing, with their heading. */
export interface LimiterDelays {
  /** Name of the limiter. */
  readonly title: string;
  /** Its type and options, a line each. */
  readonly description: readonly string[];
  /** Delays after the first failure, the second and so on, in milliseconds. */
  readonly delays: readonly number[];
}

/**
 * Measures the delays of a limiter for an item that keeps failing: each retry begins when the previous delay has
 * passed, and fails at once. Time is virtual, and the random numbers are the same each time.
 *
 * @param create Makes the limiter.
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
      throw new RangeError(`after failure ${i + 1} it answers ${inspect(delay)}, which is no delay`);
    }
    time += Math.max(delay, 0);
    return Math.max(delay, 0);
  });
}

/** Random numbers of Lehmer's generator (Park and Miller, CACM 31, 1988). */
function createRandom(): () => number {
  const modulus = 2 ** 31 - 1;
  let state = 1;
  return () => (state = state * 48_271 % modulus) / modulus;
}
