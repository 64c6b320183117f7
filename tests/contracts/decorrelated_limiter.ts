/** Third-party limiter that remembers the last delay of each key. The contract suites also run on this limiter. */

import { defineLimiter, type Random, type RateLimiter } from "@workqueue/core";

/**
 * The algorithm is "decorrelated jitter" from Marc Brooker, "Exponential Backoff And Jitter", AWS Architecture Blog,
 * 2015.
 */
class DecorrelatedLimiter implements RateLimiter {
  readonly #random: Random;
  readonly #delays = new Map<unknown, number[]>();
  #baseDelay: number;
  #maxDelay: number;

  constructor(baseDelay: number, maxDelay: number, random: Random) {
    this.#baseDelay = baseDelay;
    this.#maxDelay = maxDelay;
    this.#random = random;
  }

  change(baseDelay: number, maxDelay: number): void {
    this.#baseDelay = baseDelay;
    this.#maxDelay = maxDelay;
  }

  when(item: unknown, key: unknown = item): number {
    const delays = this.#delays.get(key) ?? [];
    const longest = Math.max(3 * (delays.at(-1) ?? 0), this.#baseDelay);
    const delay = Math.min(this.#maxDelay, this.#baseDelay + (longest - this.#baseDelay) * this.#random());
    this.#delays.set(key, [...delays, delay]);
    return delay;
  }

  forget(item: unknown, key: unknown = item): void {
    this.#delays.delete(key);
  }

  numRequeues(item: unknown, key: unknown = item): number {
    return this.#delays.get(key)?.length ?? 0;
  }

  atRest(): boolean {
    return this.#delays.size === 0;
  }
}

export const decorrelatedLimiter = defineLimiter({
  type: "decorrelated",
  description: "Delays an item at random, up to three times its last delay.",
  options: {
    baseDelay: { kind: "duration", description: "The shortest delay." },
    maxDelay: { kind: "duration", description: "The longest delay." },
  },
  create: ({ baseDelay, maxDelay }, { random = Math.random }) => new DecorrelatedLimiter(baseDelay, maxDelay, random),
  update: (limiter: DecorrelatedLimiter, { baseDelay, maxDelay }) => limiter.change(baseDelay, maxDelay),
});
