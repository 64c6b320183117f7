import { NOT_COUNTED } from "../lib/base/brands.ts";
import type { FailedAttempt, FailedStart, RateLimiter } from "../lib/contracts/rate_limiter.ts";
import { nextOf, tellForgotten } from "./next.ts";

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
    let longest = 0;
    for (const limiter of this.#limiters) longest = Math.max(longest, limiter.when(item, key, attempt));
    return longest;
  }

  /** A failure that one of the limiters doesn't count is not counted. */
  next(failures: number, item: unknown, key: unknown, retry: FailedAttempt): number | typeof NOT_COUNTED {
    let longest = 0;
    for (const limiter of this.#limiters) {
      const delay = nextOf(limiter, failures, item, key, retry);
      if (delay === NOT_COUNTED) return NOT_COUNTED;
      longest = Math.max(longest, delay);
    }
    return longest;
  }

  get countsFailures(): boolean | "some" {
    const counts = this.#limiters.map(({ countsFailures }) => countsFailures);
    return counts.includes("some") ? "some" : counts.some((count) => count !== false);
  }

  forgotten(item: unknown, key: unknown): void {
    for (const limiter of this.#limiters) tellForgotten(limiter, item, key);
  }

  /** The longest `forgetAfter` among the limiters that count failures. */
  get forgetAfter(): number | undefined {
    let longest: number | undefined;
    for (const { forgetAfter = longest } of this.#limiters) {
      longest = forgetAfter === undefined ? undefined : Math.max(longest ?? 0, forgetAfter);
    }
    return longest;
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
