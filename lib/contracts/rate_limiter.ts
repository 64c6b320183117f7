/**
 * Says how long an item that needs work again has to wait.
 *
 * A limiter knows nothing of queues and may be shared by several. One that counts per item does so by
 * `key`, which is what the queue de-duplicates by.
 *
 * @example A limiter of one's own
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
   * Counts one more retry of the item and says how long it waits.
   *
   * @param item The item.
   * @param key What the queue de-duplicates by; the item itself if it is left out.
   * @returns The delay in milliseconds, a finite number.
   */
  when(item: T, key?: unknown): number;
  /** Says that the item needs no more retries, because it succeeded or was given up. */
  forget(item: T, key?: unknown): void;
  /** The number of retries counted since the item was last forgotten; 0 from a limiter that does not count. */
  numRequeues(item: T, key?: unknown): number;
  /**
   * Whether the limiter is as good as a new one: a bucket is full, no failures are counted. A limiter of which there is
   * one for each group of items is dropped when it is, and made anew when it is needed again. A limiter around others
   * says so if all of them do. One that cannot tell leaves the method out, and is kept.
   */
  atRest?(): boolean;
  /**
   * How long after the end of its last delay the limiter forgets an item, in milliseconds; `Infinity` if it never does.
   * Pools forget their count of the item's attempts then. A limiter that does not count leaves it out.
   */
  readonly forgetAfter?: number | undefined;
  /**
   * Takes the latest `when` of the item back, as the add that asked for the delay failed. A limiter without the method
   * counts that failure.
   */
  uncount?(item: T, key?: unknown): void;
  /**
   * How long an item waits after so many failures, for a limiter whose delays depend on nothing else: not on the item,
   * the time, or what other items did. `when` gives `delayAfter(1)` after the first failure since the item was last
   * forgotten, `delayAfter(2)` after the second one, and `numRequeues` is the number of these failures.
   *
   * A limiter that has this works where the failures are counted elsewhere, as those of a queue that many processes
   * share. In memory, what shows limiters asks for it. A limiter with other delays leaves it out.
   *
   * @param failures The number of failures: a positive integer.
   * @returns The delay in milliseconds, a finite number.
   */
  delayAfter?(failures: number): number;
}
