import { FAILURES, setBrand } from "../base/brands.ts";

/** A failed attempt of a pool. */
export interface FailedAttempt<T = unknown> {
  /** The item. */
  readonly item: T;
  /** The item's key. */
  readonly key: unknown;
  /** Number of attempts so far. */
  readonly attempts: number;
  /** The error, on one line, in at most 300 characters. */
  readonly error: string;
}

/** Functions that a pool calls when attempts fail. Errors that they throw are ignored. */
export interface FailureWatcher<T = unknown> {
  /** Called for every attempt that failed. For an attempt that times out, this function is called at the timeout. */
  failed(failure: FailedAttempt<T>): void;
  /**
   * Called when a key may no longer be failing: it succeeded, was given up, or was forgotten. May also be called for
   * keys that have not failed, and more than once.
   */
  ended(key: unknown): void;
}

type FailureWatch<T> = (watcher: FailureWatcher<T>) => () => void;

/**
 * Calls a watcher for each failed attempt of a pool. A dashboard can thus know the error of every failing item, while
 * the pool itself remembers only the latest 1,000. A pool without watchers pays nothing for this.
 *
 * @example Usage
 * ```ts
 * import { createDefaultItemLimiter, createRateLimitingQueue, runWorkers } from "@workqueue/core";
 * import { watchFailures } from "@workqueue/core/metrics";
 * import { assertEquals } from "@std/assert";
 *
 * const queue = createRateLimitingQueue<string>(createDefaultItemLimiter());
 * const pool = runWorkers(queue, () => Promise.reject(new Error("no")), { maxRetries: 0, onError: () => {} });
 *
 * const seen: string[] = [];
 * watchFailures(pool, {
 *   failed: ({ key, error }) => seen.push(`${key}: ${error}`),
 *   ended: (key) => seen.push(`${key} ended`),
 * });
 * queue.add("a");
 * await queue.whenIdle();
 * assertEquals(seen, ["a: Error: no", "a ended"]);
 * await pool.stop();
 * ```
 *
 * @typeParam T The type of the items.
 * @param pool A pool returned by `runWorkers`.
 * @param watcher The functions to call.
 * @returns A function that ends the watch; `undefined` if the pool is not from this package.
 */
export function watchFailures<T>(pool: object, watcher: FailureWatcher<T>): (() => void) | undefined {
  return (pool as { [FAILURES]?: FailureWatch<T> })[FAILURES]?.(watcher);
}

/** Sets the function that adds a watcher to a pool. */
export function setFailureWatch<T>(pool: object, watch: FailureWatch<T>): void {
  setBrand(pool, FAILURES, watch);
}
