import type { Clock, RateLimiter } from "@workqueue/core";
import { inspect } from "@workqueue/core/arguments";

/** What a limiter answers to the failures of one item, with what is written above it. */
export interface LimiterDelays {
  /** The name of the limiter. */
  readonly title: string;
  /** Its type and options, a line each. */
  readonly description: readonly string[];
  /** In milliseconds, after the first failure, the second and so on. */
  readonly delays: readonly number[];
}

/**
 * Asks a limiter for the delays of an item that fails again and again: each time as soon as it is tried, which is when the
 * delay before has passed. Time is virtual, and the random numbers are the same each time.
 *
 * @param create Makes the limiter.
 * @param failures How often the item fails.
 * @returns The delays, in milliseconds.
 * @throws {RangeError} If the limiter answers what is no delay.
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

/** Lehmer's generator (Park and Miller, CACM 31, 1988). */
function createRandom(): () => number {
  const modulus = 2 ** 31 - 1;
  let state = 1;
  return () => (state = state * 48_271 % modulus) / modulus;
}
