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
   * never. Pools forget their count of the item's attempts at the same time. Omit this property in a limiter that
   * doesn't count retries.
   */
  readonly forgetAfter?: number | undefined;
  /**
   * Undoes the latest call to `when` for the item. When one of several combined limiters throws, the combining limiter
   * calls this method on the limiters that have already counted the retry. Without this method, the retry remains
   * counted.
   */
  uncount?(item: T, key?: unknown): void;
  /**
   * Notes that an attempt begins now at an item that was tried before. Pools call this method. Without it, the limiter
   * knows only the time at which `when` is called.
   */
  begin?(item: T, key: unknown): void;
  /**
   * Reports whether a failure of the item's latest attempt is not counted. Pools don't count such a failure either, so
   * it brings the item no closer to `maxRetries`. Without this method, all failures are counted.
   */
  ignores?(item: T, key: unknown): boolean;
  /**
   * Returns the delay after the given number of failures. Only for limiters whose delays depend on this number alone,
   * and not on the item, the time or other items. `when` returns `delayAfter(1)` after the first failure since the item
   * was last forgotten, `delayAfter(2)` after the second, and so on; `numRequeues` returns the number of those
   * failures.
   *
   * A limiter with this method also works on engines that count failures elsewhere, such as a queue shared by several
   * processes. In-memory queues don't need this method: for them, it is called only to display limiters. Omit this
   * method if the delays depend on anything else.
   *
   * @param failures The number of failures: a positive integer.
   * @returns The delay in milliseconds, a finite number.
   */
  delayAfter?(failures: number): number;
}

/** Attempt that failed, as far as limiters are concerned. */
export interface FailedStart {
  /** Time at which the attempt began, in milliseconds by the queue's clock. Default: as noted by `begin`, or now. */
  readonly startedAt?: number | undefined;
  /** Minimum delay of the retry, in milliseconds. The limiter's delay may be shorter. Default: 0. */
  readonly minDelay?: number | undefined;
}
