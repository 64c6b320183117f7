import type { NOT_COUNTED } from "../base/brands.ts";

/**
 * Decides how long an item is delayed before its next attempt.
 *
 * A limiter is independent of queues, and several queues may share it. A limiter that keeps a count per item identifies
 * items by `key`, the key by which the queue de-duplicates items.
 *
 * @example A custom limiter
 * ```ts
 * import { createRateLimitingQueue, type RateLimiter } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const everySecond: RateLimiter<string> = { when: () => 1000, forget() {}, numRequeues: () => 0 };
 * using queue = createRateLimitingQueue(everySecond);
 * queue.addRateLimited("a");
 * assertEquals(queue.delayed, 1);
 * ```
 */
export interface RateLimiter<T = unknown> {
  /**
   * Counts one more retry of the item and returns the delay before this retry.
   *
   * @param item The item.
   * @param key The item's key. Default: the item itself. If a key is `undefined`, queues pass an object that stands for
   * it, so that a limiter needs no case of its own.
   * @param attempt The failed attempt, if the queue knows it. Few limiters need it.
   * @returns The delay in milliseconds, a finite number.
   */
  when(item: T, key?: unknown, attempt?: FailedStart): number;
  /** Forgets the item, for example after the item succeeded or was given up. */
  forget(item: T, key?: unknown): void;
  /**
   * Returns the number of retries counted since the item was last forgotten. The result is always 0 for a limiter that
   * doesn't count retries.
   */
  numRequeues(item: T, key?: unknown): number;
  /**
   * Reports whether the limiter behaves like a new one: its bucket is full, or no failures are counted. A limiter that
   * wraps other limiters is at rest if all of them are at rest.
   *
   * A `per-group` limiter drops the limiter of a group when that limiter is at rest, and creates it again when needed.
   * Without this method, the limiter is never dropped.
   */
  atRest?(): boolean;
  /**
   * Time from the end of an item's last delay until the limiter forgets the item, in milliseconds; `Infinity` for
   * never. Only for counts of the limiter's own: a queue has an option `forgetAfter` for the failures that it counts.
   */
  readonly forgetAfter?: number | undefined;
  /**
   * Returns the delay after the given number of failures of an item. A queue calls this method instead of `when`, and
   * counts the failures itself. So queues that share a limiter share its tokens, but not its counts. Engines, such as a
   * queue on Redis, accept only limiters with this method.
   *
   * Unlike `when`, this method must not count failures.
   *
   * @param failures The number of failures since the item was last forgotten, including this one: a positive integer.
   * @param item The item.
   * @param key The item's key. If the key is `undefined`, an object that stands for it.
   * @param retry The failed attempt, and the item's previous delay.
   * @returns The delay in milliseconds, a finite number; or, if there was a previous delay, {@linkcode NOT_COUNTED} for
   * a failure that is not counted. Then, the retry stays due when the previous delay ends, and the failure doesn't
   * count for `maxRetries`: see `countsFailures`.
   */
  next?(failures: number, item: T, key: unknown, retry: FailedAttempt): number | typeof NOT_COUNTED;
  /**
   * Says which failures count, for a limiter with `next`:
   *
   * - `true`: all of them.
   * - `"some"`: `next` may return {@linkcode NOT_COUNTED}. Before a queue gives an item up because of `maxRetries`, it
   *   asks whether the last failure counts.
   * - `false`: delays don't depend on the number of failures. `numRequeues` of a queue is 0, and the queue doesn't
   *   remember items that were added by hand with `addRateLimited`.
   *
   * @default {true}
   */
  readonly countsFailures?: boolean | "some" | undefined;
  /**
   * Called when a queue in memory forgets the failures of an item, for a limiter with `next`. Limiters that combine
   * others call `forget` of those that have no `next`. Without this method, nothing is called.
   */
  forgotten?(item: T, key: unknown): void;
}

/** Attempt that failed, as far as limiters are concerned. */
export interface FailedStart {
  /** Time at which the attempt began, in milliseconds by the queue's clock. Default: now. */
  readonly startedAt?: number | undefined;
  /** Minimum delay of the retry, in milliseconds. The limiter's delay may be shorter. Default: 0. */
  readonly minDelay?: number | undefined;
}

/** Attempt that failed, for {@linkcode RateLimiter.next}. */
export interface FailedAttempt {
  /** Time at which the attempt began, in milliseconds by the queue's clock. */
  readonly startedAt: number;
  /**
   * Time at which the item's previous delay ended or will end, in milliseconds by the queue's clock; `undefined` if
   * there was none since the item was last forgotten.
   */
  readonly dueAt: number | undefined;
  /** Minimum delay of the retry, in milliseconds. The limiter's delay may be shorter. */
  readonly minDelay: number;
}
