import { type Clock, systemClock } from "../lib/base/clock.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import { ChurnMap } from "../lib/structures/churn_map.ts";
import type { Field } from "../registry/fields.ts";
import { PassingFailureLimiter } from "./passing_failures.ts";

/** The option of limiters that count. */
export const forgetAfterField = {
  kind: "duration",
  required: false,
  description: "How long after the end of its last delay an item's failures are forgotten; never, if left out. " +
    "It has to be longer than a try takes, or no failure ever follows another.",
} as const satisfies Field;

/**
 * Makes a limiter of a function that says how long an item waits after so many failures.
 *
 * @param forgetAfter How long after the end of the last delay a count is dropped; never, if it is undefined.
 */
export function createFailureLimiter(
  delay: (failures: number) => number,
  forgetAfter: number | undefined,
  clock: Clock = systemClock,
): RateLimiter {
  return forgetAfter === undefined ? new FailureLimiter(delay) : new PassingFailureLimiter(delay, forgetAfter, clock);
}

/**
 * A limiter for each item by itself. It counts how often each key has failed since it was last forgotten; how long an
 * item waits is a function of that number.
 */
class FailureLimiter implements RateLimiter {
  readonly #counts = new ChurnMap<unknown, number>();
  readonly #delay: (failures: number) => number;

  /**
   * Makes a limiter without any failures.
   *
   * @param delay The milliseconds that an item waits after so many failures, which is 1 after the first.
   */
  constructor(delay: (failures: number) => number) {
    this.#delay = delay;
  }

  when(item: unknown, key: unknown = item): number {
    const failures = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, failures);
    return this.#delay(failures);
  }

  forget(item: unknown, key: unknown = item): void {
    this.#counts.delete(key);
  }

  numRequeues(item: unknown, key: unknown = item): number {
    return this.#counts.get(key) ?? 0;
  }

  atRest(): boolean {
    return this.#counts.size === 0;
  }
}
