import { MarkingMap } from "../lib/base/marking_map.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";

/** Returns the delay after a number of failures, in milliseconds. The number is 1 after the first failure. */
export type DelayAfter = (failures: number) => number;

/** Number of failures of each key since that key was last forgotten. */
export interface FailureCounts {
  /** Time from the end of a key's last delay until the key's count expires, in milliseconds; `Infinity` for never. */
  readonly forgetAfter: number;
  /** Counts one more failure of a key. Returns the key's delay, as computed by `delayAfter`. */
  add(key: unknown, delayAfter: DelayAfter): number;
  /** Returns the count of a key. */
  get(key: unknown): number;
  delete(key: unknown): void;
  /** Reports whether no failures are counted. */
  isEmpty(): boolean;
}

/** Failure counts that never expire. */
class LastingCounts implements FailureCounts {
  readonly forgetAfter: number = Infinity;
  readonly #counts = new MarkingMap<unknown, number>();

  add(key: unknown, delayAfter: DelayAfter): number {
    const count = this.get(key) + 1;
    this.#counts.set(key, count);
    return delayAfter(count);
  }

  get(key: unknown): number {
    return this.#counts.get(key) ?? 0;
  }

  delete(key: unknown): void {
    this.#counts.delete(key);
  }

  isEmpty(): boolean {
    return this.#counts.size === 0;
  }
}

/** Limiter whose delay is a function of the number of failures. It counts the failures for which `when` is called. */
export class FailureLimiter implements RateLimiter {
  #counts: FailureCounts = new LastingCounts();
  #delayAfter: DelayAfter;

  constructor(delayAfter: DelayAfter) {
    this.#delayAfter = delayAfter;
  }

  when(item: unknown, key: unknown = item): number {
    return this.#counts.add(key, this.#delayAfter);
  }

  next(failures: number): number {
    return this.#delayAfter(failures);
  }

  get forgetAfter(): number {
    return this.#counts.forgetAfter;
  }

  forget(item: unknown, key: unknown = item): void {
    this.#counts.delete(key);
  }

  numRequeues(item: unknown, key: unknown = item): number {
    return this.#counts.get(key);
  }

  atRest(): boolean {
    return this.#counts.isEmpty();
  }

  /** Changes the delays from now on. Existing counts are kept, and delays that were already returned stay the same. */
  change(delayAfter: DelayAfter): void {
    this.#delayAfter = delayAfter;
  }

  /** Replaces the counts. */
  countWith(counts: FailureCounts): void {
    this.#counts = counts;
  }
}

/** Largest exponent for which a power of 2 is finite. An infinite power times a `baseDelay` of 0 would be `NaN`. */
const MAX_EXPONENT = 1023;

/** Returns the function that computes the delay after a number of failures. */
export function doublingDelay(baseDelay: number, maxDelay: number): DelayAfter {
  return (failures) => {
    const factor = failures <= 31 ? 1 << failures - 1 : 2 ** Math.min(failures - 1, MAX_EXPONENT); // shifts are faster
    return Math.min(baseDelay * factor, maxDelay);
  };
}
