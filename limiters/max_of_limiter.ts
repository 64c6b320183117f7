import type { FailedStart, RateLimiter } from "../lib/contracts/rate_limiter.ts";

/** Limiter that returns the longest delay and the highest count of several limiters. */
export class MaxOfLimiter implements RateLimiter {
  #limiters: readonly RateLimiter[];

  constructor(limiters: readonly RateLimiter[]) {
    this.#limiters = limiters;
  }

  change(limiters: readonly RateLimiter[]): void {
    this.#limiters = limiters;
  }

  when(item: unknown, key: unknown = item, attempt?: FailedStart): number {
    const limiters = this.#limiters;
    let longest = 0;
    let asked = 0;
    try {
      for (; asked < limiters.length; asked++) {
        longest = Math.max(longest, limiters[asked]!.when(item, key, attempt));
      }
    } catch (error) {
      // Undo the earlier calls. Otherwise, another call to `when` would count the same failure twice.
      for (const limiter of limiters.slice(0, asked)) uncount(limiter, item, key);
      throw error;
    }
    return longest;
  }

  /** The longest `forgetAfter` among the limiters that count failures. */
  get forgetAfter(): number | undefined {
    let longest: number | undefined;
    for (const { forgetAfter = longest } of this.#limiters) {
      longest = forgetAfter === undefined ? undefined : Math.max(longest ?? 0, forgetAfter);
    }
    return longest;
  }

  uncount(item: unknown, key: unknown = item): void {
    for (const limiter of this.#limiters) limiter.uncount?.(item, key);
  }

  forget(item: unknown, key: unknown = item): void {
    for (const limiter of this.#limiters) limiter.forget(item, key);
  }

  numRequeues(item: unknown, key: unknown = item): number {
    let most = 0;
    for (const limiter of this.#limiters) most = Math.max(most, limiter.numRequeues(item, key));
    return most;
  }

  atRest(): boolean {
    return this.#limiters.every((limiter) => limiter.atRest?.() === true);
  }
}

/** Undoes a call to `when`. Never throws. */
function uncount(limiter: RateLimiter, item: unknown, key: unknown): void {
  try {
    limiter.uncount?.(item, key);
  } catch {
    // Ignored, so that the error of the limiter that failed first is reported.
  }
}
