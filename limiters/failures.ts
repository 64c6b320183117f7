import type { Clock } from "../lib/base/clock.ts";
import { steadyClock } from "../lib/base/steady_clock.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import type { Field } from "../registry/fields.ts";
import { FailureCounts } from "./failure_counts.ts";

/** Option `forgetAfter`, which all limiters that count failures have. */
export const forgetAfterField = {
  kind: "duration",
  required: false,
  description: "Time from the end of an item's last delay until its failures are forgotten. Never if omitted. " +
    "Must be longer than an attempt takes; otherwise, every failure counts as the first.",
} as const satisfies Field;

/**
 * Limiter that counts the failures of each key since the key was last forgotten. The delay is a function of that count.
 */
export class FailureLimiter implements RateLimiter {
  readonly #counts: FailureCounts;
  #delayAfter: (failures: number) => number;

  /**
   * Creates a limiter that has not counted any failures.
   *
   * @param delayAfter Returns the delay after the given number of failures, in milliseconds. The number is 1 after the
   * first failure.
   * @param forgetAfter Time from the end of a key's last delay until the key's count expires, in milliseconds. Default:
   * never.
   * @param clock The clock for `forgetAfter`. Default: the system's clock.
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
   * Changes the delays and the expiry of counts from now on. Existing counts are kept, and delays that were already
   * returned stay the same.
   */
  change(delayAfter: (failures: number) => number, forgetAfter: number = Infinity): void {
    if (forgetAfter !== this.forgetAfter) this.#counts.changeForgetAfter(forgetAfter, this.#delayAfter);
    this.#delayAfter = delayAfter;
  }
}

/** Largest exponent for which a power of 2 is finite. An infinite power times a `baseDelay` of 0 would be `NaN`. */
const MAX_EXPONENT = 1023;

/** Returns the function that computes the delay after a number of failures. */
export function doublingDelay(baseDelay: number, maxDelay: number): (failures: number) => number {
  return (failures) => Math.min(baseDelay * 2 ** Math.min(failures - 1, MAX_EXPONENT), maxDelay);
}
