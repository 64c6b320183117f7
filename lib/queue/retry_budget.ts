import { A_RETRY_BUDGET, requireRule } from "../base/arguments.ts";
import { setBrand } from "../base/brands.ts";
import type { RetryBudget, RetryBudgetOptions } from "../contracts/delaying_queue.ts";
import { Watchers } from "../structures/waiters.ts";
import { BlockedRetries, type BudgetedQueue } from "./blocked_retries.ts";
import { RETRIES } from "./opt_ins.ts";
import { type OrderedQueue, orderingOf } from "./ordering.ts";

/**
 * Creates a budget for retries, for the option `retryBudget`. Queues that share the object share its options, but each
 * has a budget of its own.
 *
 * @example One retry for ten first attempts, and one every second
 * ```ts
 * import { createExponentialLimiter, createRateLimitingQueue, createRetryBudget } from "@workqueue/core";
 * import { FakeTime } from "@std/testing/time";
 * import { assertEquals } from "@std/assert";
 *
 * using time = new FakeTime();
 * const limiter = createExponentialLimiter<string>({ baseDelay: 100, maxDelay: "1m" });
 * const retryBudget = createRetryBudget({ ratio: 0.1, minRate: 1 });
 * using queue = createRateLimitingQueue(limiter, { retryBudget });
 * for (const key of ["a", "b", "c"]) queue.addRateLimited(key);
 *
 * time.tick(100);
 * assertEquals([queue.length, queue.snapshot().blocked], [1, 2]);
 * retryBudget.update({ ratio: 0.1, minRate: 10 });
 * time.tick(100);
 * assertEquals([queue.length, queue.snapshot().blocked], [2, 1]);
 * ```
 *
 * @param options The retries for each first attempt, and per second.
 * @returns The budget.
 * @throws {TypeError} If `options` is not an object of the non-negative numbers `ratio` and `minRate`.
 */
export function createRetryBudget(options: RetryBudgetOptions): RetryBudget {
  requireRule("create retry budget", "options", options, A_RETRY_BUDGET);
  return new LiveRetryBudget(options);
}

/** Options of a retry budget that can be changed. Queues with blocked retries watch them. */
export class LiveRetryBudget implements RetryBudget {
  ratio: number;
  minRate: number;
  readonly #watchers = new Watchers();

  constructor({ ratio, minRate }: RetryBudgetOptions) {
    this.ratio = ratio;
    this.minRate = minRate;
    setBrand(this, RETRIES, (queue: OrderedQueue & BudgetedQueue) => {
      const ordering = orderingOf(queue);
      ordering.retries = new BlockedRetries(this, queue, ordering);
    });
  }

  update(options: RetryBudgetOptions): void {
    requireRule("update retry budget", "options", options, A_RETRY_BUDGET);
    this.ratio = options.ratio;
    this.minRate = options.minRate;
    this.#watchers.tell();
  }

  /** Calls `callback` when the options change. Returns an unsubscribe function. */
  watch(callback: () => void): () => void {
    return this.#watchers.add(callback);
  }
}
