import { hasMethods } from "./arguments.ts";
import { RETRY_AFTER, setBrand } from "./brands.ts";
import type { Duration } from "./duration.ts";
import { requireDuration } from "./duration_arguments.ts";
import { invalidArgument } from "./errors.ts";
import { retryAfter, type RetryAfterResponse } from "./http_retry_after.ts";

export type { RetryAfterResponse } from "./http_retry_after.ts";

const ACTION = "create retry-after error";
const SCOPES: readonly unknown[] = ["item", "group", "queue"];

/**
 * Scope of a {@linkcode RetryAfterError}: what must wait.
 *
 * - `"item"`: the item;
 * - `"group"`: the items of the item's group, in a queue with a fair discipline;
 * - `"queue"`: all items of the queue.
 */
export type RetryScope = "item" | "group" | "queue";

/**
 * Thrown by a handler of {@linkcode runWorkers} to delay the next attempt at the item by at least a given time, such
 * as an HTTP server's `Retry-After`. The attempt is a failure like any other: it is counted and reported, and the item
 * is given up after `maxRetries`. The limiter still computes a delay, and the longer of the two delays applies. If the
 * item is added during the delay, it becomes ready at once.
 *
 * With the scope `"group"`, the item's group is paused, as by `pauseGroup`. This is for a server that limits each
 * tenant or host. With the scope `"queue"`, the queue hands out nothing during the delay. In both cases, the attempt is
 * not a failure: it is neither counted nor reported, and the item is ready again, behind the other items of its group.
 * If the queue has no groups, or a third-party source can't pause, the error delays only its item, and `onError` is
 * told once. On Redis and in a file, the pause holds for all processes.
 *
 * To delay all attempts instead of one item, call `pauseFor` on the bucket that is the pool's `throttle`.
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
  /** Always `"RetryAfterError"`. */
  override name = "RetryAfterError";
  /** Minimum delay, in milliseconds. */
  readonly delay: number;
  /** Scope of the delay. */
  readonly scope: RetryScope;

  /**
   * Creates the error.
   *
   * @param delay Minimum delay: milliseconds, or a string such as `"30s"`. Zero or less has no effect.
   * @param message Description of the failure.
   * @param options The `cause` of the error, and the `scope` of the delay: `"item"` by default.
   * @throws {RangeError} If `delay` is `NaN` or infinite.
   * @throws {TypeError} If `delay` is neither a duration nor a number, or `scope` is unknown.
   */
  constructor(delay: Duration, message?: string, options?: ErrorOptions & { scope?: RetryScope | undefined }) {
    super(message, options);
    this.delay = requireDuration(ACTION, "delay", delay);
    this.scope = options?.scope === undefined ? "item" : options.scope;
    if (!SCOPES.includes(this.scope)) {
      throw invalidArgument(ACTION, "scope", 'must be one of "item", "group", "queue"', this.scope);
    }
    setBrand(this, RETRY_AFTER, this.delay); // lets pools recognize errors from another copy of this package
  }

  /**
   * Creates the error from a response with a valid `Retry-After` header (RFC 9110): a number of seconds, or a date. The
   * error's message is the response's status. The `delay` is 0 for a date that has passed, and at most 2^31 seconds.
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
   * @param response The response, for example from `fetch`.
   * @param options The `scope` of the delay: `"item"` by default.
   * @returns The error to throw, or `undefined` if the header is missing or not valid.
   * @throws {TypeError} If `response` has no `headers` with a `get` method, or `scope` is unknown.
   */
  static from(
    response: RetryAfterResponse,
    options?: { scope?: RetryScope | undefined },
  ): RetryAfterError | undefined {
    if (!hasMethods(response?.headers, "get")) {
      throw invalidArgument(ACTION, "response", "must be a Response", response);
    }
    const delay = retryAfter(response);
    if (delay === undefined) return undefined;
    return new RetryAfterError(delay, `${response.status} ${response.statusText ?? ""}`.trim(), options);
  }
}
