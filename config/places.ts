import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import { LiveLimiter } from "./live_limiter.ts";

/**
 * The limiters that are known by their places in the documents, which are JSON Pointers: those with names, and those of
 * queues. A place that was there once is kept, as somebody may hold it.
 */
export class Places {
  readonly #places = new Map<string, LiveLimiter>();

  /** The limiter of a place. */
  get(path: string): LiveLimiter | undefined {
    return this.#places.get(path);
  }

  /** The limiter of a place: if that is new, with this one behind it. */
  open(path: string, limiter: RateLimiter): LiveLimiter {
    let place = this.#places.get(path);
    if (place === undefined) this.#places.set(path, place = new LiveLimiter(limiter));
    return place;
  }

  /** Runs the action, and forgets the places that are new if it throws. */
  openFor<R>(action: () => R): R {
    const { size } = this.#places;
    try {
      return action();
    } catch (error) {
      this.#forgetFrom(size);
      throw error;
    }
  }

  /** Runs the action, and forgets the places that are new. */
  tryFor<R>(action: () => R): R {
    const { size } = this.#places;
    try {
      return action();
    } finally {
      this.#forgetFrom(size);
    }
  }

  #forgetFrom(size: number): void {
    for (const path of [...this.#places.keys()].slice(size)) this.#places.delete(path);
  }
}
