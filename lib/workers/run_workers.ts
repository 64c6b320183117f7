/**
 * Runs a handler over a queue: concurrency, retries, timeouts, giving up, stopping.
 *
 * @module
 */

import { requireCallback, requireClock, requireInteger, requireSignal } from "../base/arguments.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { requireTimeout } from "../base/duration_arguments.ts";
import { invalidArgument } from "../base/errors.ts";
import type { Handler } from "../contracts/handler.ts";
import type { RateLimitingQueue } from "../contracts/rate_limiting_queue.ts";
import type { WorkerOptions, WorkerPool } from "../contracts/workers.ts";
import { Pool, type PoolSettings } from "./pool.ts";

export { TerminalError } from "../base/errors.ts";
export type { DelayingQueue } from "../contracts/delaying_queue.ts";
export type * from "../contracts/handler.ts";
export type { RateLimitingQueue } from "../contracts/rate_limiting_queue.ts";
export type { DrainOptions, Lease, Shutdown, WorkQueue } from "../contracts/work_queue.ts";
export type * from "../contracts/workers.ts";
/**
 * `NoInfer` as TypeScript before 5.4 can have it: callbacks say nothing about what the items are.
 *
 * @internal
 */
type Uninferred<T> = [T][T extends unknown ? 0 : never];

const ACTION = "run workers";

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
 * const attempts: number[] = [];
 * await using pool = runWorkers(queue, (_item, { attempt }) => {
 *   attempts.push(attempt);
 *   if (attempt < 3) throw new Error("not yet");
 *   queue.shutDown();
 * }, { concurrency: 10 });
 * await pool.finished;
 *
 * assertEquals(attempts, [1, 2, 3]);
 * ```
 *
 * @typeParam T The type of the items.
 * @param queue Where items come from and where failed ones go back to.
 * @param handler Works on one item.
 * @param options Concurrency, retries, timeout, signal and callbacks; all may be left out.
 * @returns The running pool.
 * @throws {RangeError} If `concurrency`, `maxRetries` or `timeout` is out of its bounds.
 * @throws {TypeError} If `queue` is no rate limiting queue, `handler` or a callback no function, or `signal` no signal.
 */
export function runWorkers<T>(
  queue: RateLimitingQueue<T>,
  handler: Handler<T>,
  options: WorkerOptions<Uninferred<T>> = {},
): WorkerPool {
  if (typeof queue?.addRateLimited !== "function") {
    throw invalidArgument(ACTION, "queue", "must be a rate limiting queue", queue);
  }
  if (typeof handler !== "function") {
    throw invalidArgument(ACTION, "handler", "must be a function", handler);
  }
  return new Pool(queue, handler, settingsOf(queue, options));
}

/** Checks the options and fills in what was left out. */
function settingsOf<T>(queue: RateLimitingQueue<T>, options: WorkerOptions<T>): PoolSettings<T> {
  const { concurrency = 1, maxRetries = Infinity, timeout, signal, onError, onGiveUp } = options;
  const { clock = (queue as { clock?: Clock | undefined }).clock ?? systemClock } = options;
  requireInteger(ACTION, "concurrency", concurrency, 1);
  if (maxRetries !== Infinity && !(Number.isSafeInteger(maxRetries) && maxRetries >= 0)) {
    throw invalidArgument(ACTION, "maxRetries", "must be a non-negative integer or Infinity", maxRetries);
  }
  requireSignal(ACTION, signal);
  requireClock(ACTION, clock);
  requireCallback(ACTION, "onError", onError);
  requireCallback(ACTION, "onGiveUp", onGiveUp);
  return {
    ...options,
    concurrency,
    maxRetries,
    timeout: timeout === undefined ? undefined : requireTimeout(ACTION, "timeout", timeout),
    signal,
    clock,
  };
}
