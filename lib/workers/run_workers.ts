/**
 * Worker pools: concurrency, retries, timeouts, giving up and stopping.
 *
 * @module
 */

import type { Handler, ResultOf } from "../contracts/handler.ts";
import type { RateLimitingQueue } from "../contracts/rate_limiting_queue.ts";
import type { SourcedQueue } from "../contracts/work_source.ts";
import type { WorkerOptions, WorkerPool } from "../contracts/workers.ts";
import { startPool } from "./pool.ts";

export type { Clock } from "../base/clock.ts";
export type { Duration } from "../base/duration.ts";
export type { SOURCE } from "../base/brands.ts";
export { type RESULT, type Result, result } from "../base/result.ts";
export { TerminalError } from "../base/errors.ts";
export { AddedAgainError } from "./newest.ts";
export { adaptThrottle } from "../tokens/adapt_throttle.ts";
export { RetryAfterError, type RetryAfterResponse, type RetryScope } from "../base/retry_after_error.ts";
export type { DelayingQueue } from "../contracts/delaying_queue.ts";
export type * from "../contracts/given_up.ts";
export type * from "../contracts/handler.ts";
export type { QueueDiscipline, QueueDisciplineFor, ReadyEntry } from "../contracts/discipline.ts";
export type { Counter, Gauge, Histogram, MetricsProvider, SettableGauge } from "../contracts/metrics.ts";
export type {
  AddAndWaitOptions,
  CancelledFrom,
  RateLimitedAddOptions,
  RateLimitingQueue,
} from "../contracts/rate_limiting_queue.ts";
export type * from "../contracts/work_queue.ts";
export type * from "../contracts/throttle.ts";
export type * from "../contracts/token_source.ts";
export type * from "../contracts/work_source.ts";
export type * from "../contracts/workers.ts";

/**
 * Takes items from the queue and runs the handler on each of them, until the queue is shut down and empty or the pool
 * is stopped. A failing handler never stops the pool. No item is handed to a second handler before the first handler
 * has ended, even after a timeout.
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
 * @typeParam R The type of the results.
 * @param queue The source of items, to which failed items are added again: a rate limiting queue, or a queue outside
 * this process that offers its own source.
 * @param handler Function that processes one item.
 * @param options Concurrency, retries, timeout, signal and callbacks; all are optional.
 * @returns The running pool.
 * @throws {RangeError} If `concurrency`, `maxAbandoned`, `maxRetries` or `timeout` is a number out of range.
 * @throws {TypeError} If `queue` is not a rate limiting queue, if its source lacks a member, or if `handler` is not a
 * function.
 * @throws {TypeError} If an option is unknown or has the wrong type.
 */
export function runWorkers<T, R = unknown>(
  queue: RateLimitingQueue<T, R> | SourcedQueue<T> & { addAndWait?(item: never): Promise<R> },
  handler: Handler<T, ResultOf<R>>,
  options: WorkerOptions<NotInferred<T>> = {},
): WorkerPool<T> {
  return startPool(queue, handler as Handler<T>, options as WorkerOptions<T>);
}

/**
 * Prevents inference of `T` from this argument. TypeScript 5.4 and later have `NoInfer` for this purpose.
 *
 * @internal
 */
type NotInferred<T> = [T][T extends unknown ? 0 : never];
