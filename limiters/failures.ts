import { type Clock, systemClock } from "../lib/base/clock.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import type { Field } from "../registry/fields.ts";
import type { FailureCounts } from "./failure_counts.ts";
import { LastingCounts } from "./lasting_counts.ts";
import { PassingCounts } from "./passing_counts.ts";

/** The option of limiters that count. */
export const forgetAfterField = {
  kind: "duration",
  required: false,
  description: "How long after the end of its last delay an item's failures are forgotten; never, if left out. " +
    "It has to be longer than a try takes, or no failure ever follows another.",
} as const satisfies Field;

/**
 * A limiter for each item by itself. It counts how often each key has failed since it was last forgotten; how long an
 * item waits is a function of that number.
 */
export class FailureLimiter implements RateLimiter {
  readonly #clock: Clock;
  #delayAfter: (failures: number) => number;
  #forgetAfter: number | undefined;
  #counts: FailureCounts;

  /**
   * Makes a limiter without any failures.
   *
   * @param delayAfter The milliseconds that an item waits after so many failures, which is 1 after the first.
   * @param forgetAfter How long after the end of the last delay a count is dropped; never, if it is undefined.
   */
  constructor(
    delayAfter: (failures: number) => number,
    forgetAfter: number | undefined,
    clock: Clock = systemClock,
  ) {
    this.#clock = clock;
    this.#delayAfter = delayAfter;
    this.#forgetAfter = forgetAfter;
    this.#counts = createCounts(forgetAfter, clock);
  }

  when(item: unknown, key: unknown = item): number {
    return this.#counts.add(key, this.#delayAfter);
  }

  forget(item: unknown, key: unknown = item): void {
    this.#counts.delete(key);
  }

  numRequeues(item: unknown, key: unknown = item): number {
    return this.#counts.get(key);
  }

  delayAfter(failures: number): number {
    return this.#delayAfter(failures);
  }

  atRest(): boolean {
    return this.#counts.isEmpty();
  }

  /** Gives other delays from now on, and drops counts after another time. The counts stay, and the delays that were given. */
  change(delayAfter: (failures: number) => number, forgetAfter: number | undefined): void {
    if (forgetAfter !== this.#forgetAfter) this.#moveCounts(forgetAfter);
    this.#delayAfter = delayAfter;
  }

  /** What lasted so far may have given its last delay just now, and no later. */
  #moveCounts(forgetAfter: number | undefined): void {
    const now = this.#clock.now();
    const counts = createCounts(forgetAfter, this.#clock);
    for (const [key, count, end = now + this.#delayAfter(count)] of this.#counts.entries()) counts.set(key, count, end);
    this.#counts = counts;
    this.#forgetAfter = forgetAfter;
  }
}

function createCounts(forgetAfter: number | undefined, clock: Clock): FailureCounts {
  return forgetAfter === undefined ? new LastingCounts() : new PassingCounts(forgetAfter, clock);
}
