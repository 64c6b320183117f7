import type { Clock } from "../lib/base/clock.ts";
import { steadyClock } from "../lib/base/steady_clock.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import type { Field } from "../registry/fields.ts";
import { FailureCounts } from "./failure_counts.ts";

/** The option of limiters that count. */
export const forgetAfterField = {
  kind: "duration",
  required: false,
  description: "How long after the end of its last delay an item's failures are forgotten. Never if omitted. " +
    "Must be longer than an attempt takes, or no failure ever follows another.",
} as const satisfies Field;

/**
 * A limiter for each item by itself. It counts how often each key has failed since it was last forgotten; how long an
 * item waits is a function of that number.
 */
export class FailureLimiter implements RateLimiter {
  readonly #counts: FailureCounts;
  #delayAfter: (failures: number) => number;

  /**
   * Makes a limiter without any failures.
   *
   * @param delayAfter Returns the delay after a number of failures, which is 1 after the first, in milliseconds.
   * @param forgetAfter How long after the end of the last delay a count is dropped, in milliseconds; never by default.
   * @param clock Where time comes from.
   */
  constructor(
    delayAfter: (failures: number) => number,
    forgetAfter: number = Infinity,
    clock?: Clock,
  ) {
    this.#delayAfter = delayAfter;
    this.#counts = new FailureCounts(forgetAfter, steadyClock(clock));
  }

  when(item: unknown, key: unknown = item): number {
    return this.#counts.add(key, this.#delayAfter);
  }

  get forgetAfter(): number {
    return this.#counts.forgetAfter;
  }

  uncount(item: unknown, key: unknown = item): void {
    this.#counts.uncount(key);
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

  /**
   * Gives other delays from now on, and drops counts after another time. The counts stay, and the delays that were
   * given.
   */
  change(delayAfter: (failures: number) => number, forgetAfter: number = Infinity): void {
    if (forgetAfter !== this.forgetAfter) this.#counts.changeForgetAfter(forgetAfter, this.#delayAfter);
    this.#delayAfter = delayAfter;
  }
}
