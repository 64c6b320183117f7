import type { AttemptCounts } from "../contracts/queue_hooks.ts";
import type { RateLimiter } from "../contracts/rate_limiter.ts";
import { ChurnMap } from "../structures/churn_map.ts";
import { Pruner } from "../structures/pruner.ts";

/** How often an item was tried. */
interface Tried<T> {
  readonly item: T;
  readonly attempts: number;
  /** Whether the limiter had counted the item, so that it forgets it some day. */
  readonly isCounted: boolean;
}

/**
 * How often each key was tried. A limiter that forgets an item after a time (`forgetAfter`) ends its count here as
 * well.
 */
export class Attempts<T> implements AttemptCounts<T> {
  readonly #limiter: RateLimiter<T>;
  readonly #tried = new ChurnMap<unknown, Tried<T>>();
  readonly #pruner = new Pruner(this.#tried);

  constructor(limiter: RateLimiter<T>) {
    this.#limiter = limiter;
  }

  get(key: unknown, item: T): number | undefined {
    const tried = this.#tried.get(key);
    if (tried === undefined) return undefined;
    if (!this.#isForgotten(tried, key, item)) return tried.attempts;
    this.#tried.delete(key);
    return undefined;
  }

  /** Called right after the limiter was asked. */
  set(key: unknown, attempts: number, item: T): void {
    const isCounted = !this.#forgets || this.#isKnown(item, key);
    if (this.#forgets) this.#pruner.prune((tried, key) => this.#isForgotten(tried, key));
    this.#tried.set(key, { item, attempts, isCounted });
  }

  delete(key: unknown): void {
    this.#tried.delete(key);
  }

  get #forgets(): boolean {
    const { forgetAfter = Infinity } = this.#limiter;
    return forgetAfter < Infinity;
  }

  #isForgotten({ item, isCounted }: Tried<T>, key: unknown, latest = item): boolean {
    return isCounted && this.#forgets && !this.#isKnown(latest, key);
  }

  /** Whether the limiter has not forgotten the item. A limiter that throws has not. */
  #isKnown(item: T, key: unknown): boolean {
    try {
      return this.#limiter.numRequeues(item, key) !== 0;
    } catch {
      return true;
    }
  }
}
