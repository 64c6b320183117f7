import { ChurnMap } from "../lib/base/churn_map.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import type { Field } from "../registry/fields.ts";

/** Option `forgetAfter`, which all limiters that count failures have. */
export const forgetAfterField = {
  kind: "duration",
  required: false,
  description: "Time from the end of an item's last delay until its failures are forgotten. Never if omitted. " +
    "Must be longer than an attempt takes; otherwise, every failure counts as the first.",
} as const satisfies Field;

/** Returns the delay after a number of failures, in milliseconds. The number is 1 after the first failure. */
export type DelayAfter = (failures: number) => number;

/** Number of failures of each key since that key was last forgotten. */
export interface FailureCounts {
  /** Time from the end of a key's last delay until the key's count expires, in milliseconds; `Infinity` for never. */
  readonly forgetAfter: number;
  /** Changes `forgetAfter`. Absent if counts never expire. `delayAfter` computes the delays that applied until now. */
  changeForgetAfter?(forgetAfter: number, delayAfter: DelayAfter): void;
  /** Counts one more failure of a key. Returns the key's delay, as computed by `delayAfter`. */
  add(key: unknown, delayAfter: DelayAfter): number;
  /** Returns the count of a key. */
  get(key: unknown): number;
  /** Removes the latest failure of a key from its count. */
  uncount(key: unknown): void;
  delete(key: unknown): void;
  /** Reports whether no failures are counted. */
  isEmpty(): boolean;
}

/** Failure counts that never expire. */
export class LastingCounts implements FailureCounts {
  readonly forgetAfter: number = Infinity;
  readonly #counts = new ChurnMap<unknown, number>();

  add(key: unknown, delayAfter: DelayAfter): number {
    const count = this.get(key) + 1;
    this.#counts.set(key, count);
    return delayAfter(count);
  }

  get(key: unknown): number {
    return this.#counts.get(key) ?? 0;
  }

  uncount(key: unknown): void {
    const count = this.get(key) - 1;
    if (count > 0) this.#counts.set(key, count);
    else this.delete(key);
  }

  delete(key: unknown): void {
    this.#counts.delete(key);
  }

  isEmpty(): boolean {
    return this.#counts.size === 0;
  }
}

/**
 * Limiter that counts the failures of each key since the key was last forgotten. The delay is a function of that count.
 */
export class FailureLimiter implements RateLimiter {
  readonly #counts: FailureCounts;
  #delayAfter: DelayAfter;

  constructor(delayAfter: DelayAfter, counts: FailureCounts) {
    this.#delayAfter = delayAfter;
    this.#counts = counts;
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
  change(delayAfter: DelayAfter, forgetAfter: number = Infinity): void {
    if (forgetAfter !== this.forgetAfter) this.#counts.changeForgetAfter!(forgetAfter, this.#delayAfter);
    this.#delayAfter = delayAfter;
  }
}

/** Largest exponent for which a power of 2 is finite. An infinite power times a `baseDelay` of 0 would be `NaN`. */
const MAX_EXPONENT = 1023;

/** Returns the function that computes the delay after a number of failures. */
export function doublingDelay(baseDelay: number, maxDelay: number): DelayAfter {
  return (failures) => Math.min(baseDelay * 2 ** Math.min(failures - 1, MAX_EXPONENT), maxDelay);
}
