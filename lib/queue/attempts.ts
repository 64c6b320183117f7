import type { AttemptCounts } from "../contracts/queue_hooks.ts";
import type { RateLimiter } from "../contracts/rate_limiter.ts";
import { ChurnMap } from "../base/churn_map.ts";
import { limiterKey } from "../base/keys.ts";
import { Pruner } from "../structures/pruner.ts";

/** Number of attempts at an item. */
interface Tried<T> {
  readonly item: T;
  readonly attempts: number;
  /** Whether the limiter has counted the item, and will therefore forget it eventually. */
  readonly isCounted: boolean;
  /** Whether the last attempt failed. An attempt that requested `requeue` did not fail. */
  readonly hasFailed: boolean;
}

/** Members of a limiter that decide which attempts count, and when attempts are forgotten. */
type Forgetting<T> = Pick<RateLimiter<T>, "forgetAfter" | "numRequeues" | "begin" | "ignores">;

/**
 * Number of attempts at each key. When the limiter forgets an item after a time (`forgetAfter`), the number of attempts
 * at the item is forgotten too.
 */
export class Attempts<T> implements AttemptCounts<T> {
  readonly #limiter: Forgetting<T>;
  readonly #tried = new ChurnMap<unknown, Tried<T>>();
  readonly #pruner = new Pruner(this.#tried);
  #failing = 0;
  /** Callbacks of `watchForgotten`; `undefined` until it is first called. */
  #watchers: Set<(key: unknown) => void> | undefined = undefined;

  constructor(limiter: Forgetting<T>) {
    this.#limiter = limiter;
  }

  /** Number of keys whose last attempt failed. Includes keys that expired and were not pruned yet. */
  get failing(): number {
    return this.#failing;
  }

  get(key: unknown, item: T): number | undefined {
    return this.#tried.size === 0 ? undefined : this.#get(key, item)?.attempts;
  }

  begin(key: unknown, item: T): void {
    try {
      this.#limiter.begin?.(item, limiterKey(key));
    } catch {
      // The limiter then judges the attempt without knowing when it began.
    }
  }

  isIgnored(key: unknown, item: T): boolean | undefined {
    return this.#limiter.ignores?.(item, limiterKey(key));
  }

  isFailing(key: unknown, item: T): boolean {
    return this.#get(key, item)?.hasFailed === true;
  }

  /** Records the number of attempts at a key. Must be called right after the limiter's `when`. */
  set(key: unknown, attempts: number, item: T, hasFailed = true): void {
    const isCounted = !this.#forgets || this.#isKnown(item, key);
    if (this.#forgets) this.#pruner.prune((tried, key) => this.#isPruned(tried, key));
    const before = this.#tried.get(key);
    if (this.isIgnored(key, item)) attempts--;
    this.#tried.set(key, { item, attempts, isCounted, hasFailed });
    if (hasFailed) this.#failing++;
    if (before?.hasFailed) this.#failLess(key, hasFailed);
  }

  delete(key: unknown): void {
    if (this.#tried.size === 0) return; // the common case: nothing has failed
    const tried = this.#tried.get(key);
    if (tried === undefined) return;
    this.#tried.remove(key);
    if (tried.hasFailed) this.#failLess(key);
  }

  watchForgotten(callback: (key: unknown) => void): () => void {
    const watchers = this.#watchers ??= new Set();
    watchers.add(callback);
    return () => void watchers.delete(callback);
  }

  get #forgets(): boolean {
    const { forgetAfter = Infinity } = this.#limiter;
    return forgetAfter < Infinity;
  }

  #get(key: unknown, item: T): Tried<T> | undefined {
    const tried = this.#tried.get(key);
    if (tried === undefined || !this.#isForgotten(tried, key, item)) return tried;
    this.delete(key);
    return undefined;
  }

  /** Subtracts a key from the failing keys. Tells the watchers, unless the key `isStill` failing. */
  #failLess(key: unknown, isStill = false): void {
    this.#failing--;
    if (this.#watchers === undefined || isStill) return;
    for (const tell of this.#watchers) tell(key);
  }

  /** Reports whether the pruner must remove a key. If so, the key no longer counts as failing. */
  #isPruned(tried: Tried<T>, key: unknown): boolean {
    if (!this.#isForgotten(tried, key)) return false;
    if (tried.hasFailed) this.#failLess(key);
    return true;
  }

  #isForgotten({ item, isCounted }: Tried<T>, key: unknown, latest = item): boolean {
    return isCounted && this.#forgets && !this.#isKnown(latest, key);
  }

  /** Reports whether the limiter still has a count for the item. Returns `true` if the limiter throws. */
  #isKnown(item: T, key: unknown): boolean {
    try {
      return this.#limiter.numRequeues(item, limiterKey(key)) !== 0;
    } catch {
      return true;
    }
  }
}
