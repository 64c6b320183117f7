import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import { ChurnMap } from "../lib/structures/churn_map.ts";

/**
 * A limiter for each item by itself. It counts how often each key has failed since it was last forgotten; how long an
 * item waits is a function of that number.
 */
export class FailureLimiter implements RateLimiter {
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
}
