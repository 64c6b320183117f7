import type { AttemptCounts } from "../contracts/queue_hooks.ts";
import type { RateLimiter } from "../contracts/rate_limiter.ts";
import { ChurnMap } from "../structures/churn_map.ts";
import { Pruner } from "../structures/pruner.ts";

/** Number of attempts at an item. */
interface Tried<T> {
  readonly item: T;
  readonly attempts: number;
  /** Whether the limiter has counted the item, and will therefore forget it eventually. */
  readonly isCounted: boolean;
}

/**
 * Number of attempts at each key. When the limiter forgets an item after a time (`forgetAfter`), the number of attempts
 * at the item is forgotten too.
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

  /** Records the number of attempts at a key. Must be called right after the limiter's `when`. */
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

  /** Reports whether the limiter still has a count for the item. Returns `true` if the limiter throws. */
  #isKnown(item: T, key: unknown): boolean {
    try {
      return this.#limiter.numRequeues(item, key) !== 0;
    } catch {
      return true;
    }
  }
}
