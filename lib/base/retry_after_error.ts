import { RETRY_AFTER } from "./brands.ts";
import type { Duration } from "./duration.ts";
import { requireDuration } from "./duration_arguments.ts";

/**
 * Thrown by a handler of {@linkcode runWorkers} to say that the item must not be tried again before a time is over, as
 * an HTTP server does with `Retry-After`. It is a failure like others: counted, reported, and given up after
 * `maxRetries`. The limiter is asked as always, and the longer of the two delays counts. Somebody who adds the item
 * meanwhile brings it at once.
 *
 * A rate limiting queue of somebody else's that takes no such option is asked for `addAfter` instead: its limiter does
 * not hear of that failure.
 *
 * To keep all items waiting, and not only this one, `hold` the bucket that the pool has as `starts`.
 *
 * @example Usage
 * ```ts
 * import { createDefaultItemLimiter, createRateLimitingQueue, RetryAfterError, runWorkers } from "@workqueue/core";
 * import { FakeTime } from "@std/testing/time";
 * import { assertEquals } from "@std/assert";
 *
 * using time = new FakeTime();
 * const queue = createRateLimitingQueue<string>(createDefaultItemLimiter()); // 1 ms at first
 * queue.add("a");
 *
 * let attempts = 0;
 * runWorkers(queue, () => {
 *   attempts++;
 *   throw new RetryAfterError("30s", "429 Too Many Requests");
 * }, { maxRetries: 1, onError() {} });
 *
 * await time.tickAsync(29_999);
 * assertEquals(attempts, 1);
 * await time.tickAsync(1);
 * assertEquals(attempts, 2);
 * ```
 */
export class RetryAfterError extends Error {
  /** The name of the class, as for every error. */
  override name = "RetryAfterError";
  /** How long to wait at least, in milliseconds. */
  readonly delay: number;

  /**
   * Makes the error.
   *
   * @param delay How long to wait at least: milliseconds, or a text such as `"30s"`. Zero or less asks for nothing.
   * @param message What went wrong.
   * @param options The `cause`, if there is one.
   * @throws {RangeError} If `delay` is `NaN` or infinite.
   * @throws {TypeError} If `delay` is no duration.
   */
  constructor(delay: Duration, message?: string, options?: ErrorOptions) {
    super(message, options);
    this.delay = requireDuration("create retry-after error", "delay", delay);
    // Pools know the errors of another copy of this package by this. No member, as bundlers would keep the class for it.
    Object.defineProperty(this, RETRY_AFTER, { value: this.delay });
  }
}
