import { hasMethods } from "./arguments.ts";
import { RETRY_AFTER } from "./brands.ts";
import type { Duration } from "./duration.ts";
import { requireDuration } from "./duration_arguments.ts";
import { invalidArgument } from "./errors.ts";
import { retryAfter, type RetryAfterResponse } from "./http_retry_after.ts";

export type { RetryAfterResponse } from "./http_retry_after.ts";

/**
 * Thrown by a handler of {@linkcode runWorkers} to say that the item must not be tried again before a time is over, as
 * an HTTP server does with `Retry-After`. It is a failure like others: counted, reported, and given up after
 * `maxRetries`. The limiter is asked as always, and the longer of the two delays counts. Somebody who adds the item
 * meanwhile brings it at once.
 *
 * A rate limiting queue of somebody else's that takes no such option is asked for `addAfter` instead: its limiter does
 * not hear of that failure.
 *
 * To delay all attempts, not only this item, call `pauseFor` of the bucket that the pool has as `throttle`.
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
    // Pools know the errors of another copy of this package by this. No member, as bundlers would keep the class for
    // it.
    Object.defineProperty(this, RETRY_AFTER, { value: this.delay });
  }

  /**
   * Makes the error of a response with a valid `Retry-After` header (RFC 9110): a number of seconds, or a date. Its
   * message is the status. A date that has passed gives a `delay` of 0, and 2^31 seconds is the longest.
   *
   * @example Usage
   * ```ts
   * import { RetryAfterError } from "@workqueue/core";
   * import { assertEquals } from "@std/assert";
   *
   * function check(response: Response): void {
   *   if (!response.ok) throw RetryAfterError.from(response) ?? new Error(`status ${response.status}`);
   * }
   *
   * const busy = new Response(null, { status: 429, headers: { "Retry-After": "30" } });
   * try {
   *   check(busy);
   * } catch (error) {
   *   assertEquals(error instanceof RetryAfterError && error.delay, 30_000);
   * }
   * assertEquals(RetryAfterError.from(new Response(null, { status: 503 })), undefined);
   * ```
   *
   * @param response The response, such as the one of `fetch`.
   * @returns The error to throw, or `undefined` if the header is missing or not valid.
   * @throws {TypeError} If `response` has no headers to `get`.
   */
  static from(response: RetryAfterResponse): RetryAfterError | undefined {
    if (!hasMethods(response?.headers, "get")) {
      throw invalidArgument("create retry-after error", "response", "must be a Response", response);
    }
    const delay = retryAfter(response);
    if (delay === undefined) return undefined;
    return new RetryAfterError(delay, `${response.status} ${response.statusText ?? ""}`.trim());
  }
}
