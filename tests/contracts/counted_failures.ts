/** Failures that a queue counts for its limiter, as a reference for engines. */

import { type Clock, NOT_COUNTED, type RateLimiter } from "@workqueue/core";

/** Failures of a key. Times are in milliseconds. */
interface Failures {
  readonly count: number;
  /** Time when the last delay ends. */
  readonly dueAt: number;
  /** Time when the failures are forgotten. */
  readonly endsAt: number;
}

/** Failure of an attempt. */
export interface Failure {
  /** Time at which the attempt began; `undefined` for an add by hand. */
  readonly startedAt: number | undefined;
  readonly minDelay: number;
  /** Option `forgetAfter` of the queue. */
  readonly forgetAfter: number | undefined;
}

export class CountedFailures {
  readonly #clock: Pick<Clock, "now">;
  readonly #failures = new Map<string, Failures>();

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  /** Returns the number of failures of a key. */
  count(key: string): number {
    return this.#find(key)?.count ?? 0;
  }

  /** Returns the number of failures that the queue reports as `numRequeues`. */
  numRequeues(limiter: RateLimiter, key: string): number {
    return limiter.countsFailures === false ? 0 : this.count(key);
  }

  /** Counts a failure. Returns the limiter's delay, and whether the failure was counted. */
  fail(limiter: RateLimiter, key: string, failure: Failure): { delay: number; isCounted: boolean } {
    const { startedAt, minDelay, forgetAfter = Infinity } = failure;
    const now = this.#clock.now();
    const before = this.#find(key);
    const count = (before?.count ?? 0) + 1;
    const retry = { startedAt: startedAt ?? now, dueAt: before?.dueAt, minDelay };
    const delay = limiter.next!(count, key, key, retry);
    if (delay === NOT_COUNTED) {
      const dueAt = Math.max(before!.dueAt, now + minDelay);
      this.#failures.set(key, { count: count - 1, dueAt, endsAt: dueAt + forgetAfter });
      return { delay: Math.max(before!.dueAt - now, 0), isCounted: false };
    }
    if (startedAt === undefined && limiter.countsFailures === false) return { delay, isCounted: false };
    const dueAt = now + Math.max(delay, minDelay);
    this.#failures.set(key, { count, dueAt, endsAt: dueAt + forgetAfter });
    return { delay, isCounted: true };
  }

  forget(key: string): void {
    this.#failures.delete(key);
  }

  #find(key: string): Failures | undefined {
    const failures = this.#failures.get(key);
    return failures !== undefined && failures.endsAt > this.#clock.now() ? failures : undefined;
  }
}
