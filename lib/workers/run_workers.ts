/**
 * Runs a handler over a queue: concurrency, retries, timeouts, giving up, stopping.
 *
 * @module
 */

import type { Handler } from "../contracts/handler.ts";
import type { RateLimitingQueue } from "../contracts/rate_limiting_queue.ts";
import type { SourcedQueue } from "../contracts/work_source.ts";
import type { WorkerOptions, WorkerPool } from "../contracts/workers.ts";
import { startPool } from "./pool.ts";

export type { Clock } from "../base/clock.ts";
export type { Duration } from "../base/duration.ts";
export type { SOURCE } from "../base/brands.ts";
export { TerminalError } from "../base/errors.ts";
export { RetryAfterError, type RetryAfterResponse } from "../base/retry_after_error.ts";
export type { DelayingQueue } from "../contracts/delaying_queue.ts";
export type * from "../contracts/handler.ts";
export type { QueueDiscipline, QueueDisciplineFor, ReadyEntry } from "../contracts/discipline.ts";
export type { Counter, Gauge, Histogram, MetricsProvider, SettableGauge } from "../contracts/metrics.ts";
export type { RateLimitedAddOptions, RateLimitingQueue } from "../contracts/rate_limiting_queue.ts";
export type * from "../contracts/work_queue.ts";
export type * from "../contracts/token_source.ts";
export type * from "../contracts/work_source.ts";
export type * from "../contracts/workers.ts";

/**
 * Takes items from the queue and runs the handler on each, until the queue is shut down and empty or the
 * pool is stopped. Whatever a handler does, the pool goes on with the other items, and no item is handed to
 * a second handler before the first has ended, even if it has run out of time.
 *
 * @example Usage
 * ```ts
 * import { createExponentialLimiter, createRateLimitingQueue, runWorkers } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const limiter = createExponentialLimiter({ baseDelay: 1, maxDelay: 1000 });
 * const queue = createRateLimitingQueue<string>(limiter);
 * queue.add("a");
 *
 * const errors: string[] = [];
 * await using pool = runWorkers(queue, (_item, { attempt }) => {
 *   if (attempt < 3) throw new Error("not yet");
 *   queue.shutDown();
 * }, { concurrency: 10, onError: (error, item, attempt) => errors.push(`${item}, attempt ${attempt}: ${error}`) });
 * await pool.finished;
 *
 * assertEquals(errors, ["a, attempt 1: Error: not yet", "a, attempt 2: Error: not yet"]);
 * ```
 *
 * @typeParam T The type of the items.
 * @param queue Where items come from and where failed ones go back to: a rate limiting queue, or one that is not in
 * memory and offers a source of its own.
 * @param handler Works on one item.
 * @param options Concurrency, retries, timeout, signal and callbacks; all may be left out.
 * @returns The running pool.
 * @throws {RangeError} If `concurrency`, `maxAbandoned`, `maxRetries` or `timeout` is out of its bounds.
 * @throws {TypeError} If `queue` is no rate limiting queue, `handler` or a callback no function, `signal` no signal,
 * `clock` no clock, `throttle` no token bucket, or an option is unknown.
 */
export function runWorkers<T>(
  queue: RateLimitingQueue<T> | SourcedQueue<T>,
  handler: Handler<T>,
  options: WorkerOptions<NotInferred<T>> = {},
): WorkerPool<T> {
  return startPool(queue, handler, options as WorkerOptions<T>);
}

/**
 * `T` is found out from the other arguments. TypeScript has `NoInfer` for this from 5.4 on.
 *
 * @internal
 */
type NotInferred<T> = [T][T extends unknown ? 0 : never];
