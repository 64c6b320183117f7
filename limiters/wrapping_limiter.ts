import type { NOT_COUNTED } from "../lib/base/brands.ts";
import type { FailedAttempt, FailedStart, RateLimiter } from "../lib/contracts/rate_limiter.ts";
import { nextOf, tellForgotten } from "./next.ts";

/** Limiter that changes the delays of another limiter. */
export abstract class WrappingLimiter implements RateLimiter {
  protected limiter: RateLimiter;

  constructor(limiter: RateLimiter) {
    this.limiter = limiter;
  }

  /** Returns the function that changes the next delay. */
  protected abstract changer(): (delay: number) => number;

  when(item: unknown, key: unknown = item, attempt?: FailedStart): number {
    const changed = this.changer(); // first, because it may throw
    return changed(this.limiter.when(item, key, attempt));
  }

  next(failures: number, item: unknown, key: unknown, retry: FailedAttempt): number | typeof NOT_COUNTED {
    const changed = this.changer();
    const delay = nextOf(this.limiter, failures, item, key, retry);
    return typeof delay === "number" ? changed(delay) : delay;
  }

  get countsFailures(): RateLimiter["countsFailures"] {
    return this.limiter.countsFailures;
  }

  forgotten(item: unknown, key: unknown): void {
    tellForgotten(this.limiter, item, key);
  }

  get forgetAfter(): number | undefined {
    return this.limiter.forgetAfter;
  }

  forget(item: unknown, key: unknown = item): void {
    this.limiter.forget(item, key);
  }

  numRequeues(item: unknown, key: unknown = item): number {
    return this.limiter.numRequeues(item, key);
  }

  atRest(): boolean {
    return this.limiter.atRest?.() === true;
  }
}
