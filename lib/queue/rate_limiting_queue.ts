/**
 * Layer 3: a delaying queue that asks a rate limiter how long an item has to wait.
 *
 * @module
 */

import { hasMethods } from "../base/arguments.ts";
import { invalidArgument } from "../base/errors.ts";
import type { DelayingQueue } from "../contracts/delaying_queue.ts";
import type { RateLimiter } from "../contracts/rate_limiter.ts";
import type { RateLimitingQueue, RateLimitingQueueOptions } from "../contracts/rate_limiting_queue.ts";
import { createDelayingQueue } from "./delaying_queue.ts";
import { QueueLayer } from "./queue_layer.ts";

export type * from "../contracts/rate_limiter.ts";
export type * from "../contracts/rate_limiting_queue.ts";
export * from "./delaying_queue.ts";

/**
 * Makes a {@linkcode RateLimitingQueue}.
 *
 * @example Usage
 * ```ts
 * import { createExponentialLimiter, createRateLimitingQueue } from "@workqueue/core";
 * import { FakeTime } from "@std/testing/time";
 * import { assertEquals } from "@std/assert";
 *
 * using time = new FakeTime();
 * const limiter = createExponentialLimiter({ baseDelay: 100, maxDelay: 60_000 });
 * using queue = createRateLimitingQueue<string>(limiter);
 *
 * queue.addRateLimited("a"); // after 100 ms
 * time.tick(100);
 * queue.tryGet()?.[Symbol.dispose]();
 *
 * queue.addRateLimited("a"); // after 200 ms
 * time.tick(199);
 * assertEquals(queue.length, 0);
 * time.tick(1);
 * assertEquals(queue.length, 1);
 * assertEquals(queue.numRequeues("a"), 2);
 * ```
 *
 * @typeParam T The type of the items.
 * @param limiter Says how long an item waits. It may be shared by queues.
 * @param options The queue's options; all may be left out.
 * @returns An empty queue.
 * @throws {TypeError} If `limiter` is no rate limiter, or `queue` no delaying queue.
 * @throws {RangeError} If `maxWait` is out of its bounds.
 */
export function createRateLimitingQueue<T>(
  limiter: RateLimiter<T>,
  options: RateLimitingQueueOptions<T> = {},
): RateLimitingQueue<T> {
  if (!hasMethods(limiter, "when", "forget", "numRequeues")) {
    throw invalidArgument("create rate limiting queue", "limiter", "must be a rate limiter", limiter);
  }
  if (options.queue !== undefined && typeof options.queue?.addAfter !== "function") {
    throw invalidArgument("create rate limiting queue", "queue", "must be a delaying queue", options.queue);
  }
  return new LimitedQueue(limiter, options);
}

class LimitedQueue<T> extends QueueLayer<T, DelayingQueue<T>> implements RateLimitingQueue<T> {
  readonly #limiter: RateLimiter<T>;

  constructor(limiter: RateLimiter<T>, { queue, ...options }: RateLimitingQueueOptions<T>) {
    super(queue ?? createDelayingQueue(options), options);
    this.#limiter = limiter;
  }

  get waiting(): number {
    return this.below.waiting;
  }

  addAfter(item: T, delayMs: number): void {
    this.below.addAfter(item, delayMs);
  }

  addRateLimited(item: T): void {
    const delay = this.#limiter.when(item, this.key(item));
    if (!Number.isFinite(delay)) {
      throw invalidArgument("add item", "when", "of the limiter must return a finite number of milliseconds", delay);
    }
    this.below.addAfter(item, delay);
  }

  forget(item: T): void {
    this.#limiter.forget(item, this.key(item));
  }

  numRequeues(item: T): number {
    return this.#limiter.numRequeues(item, this.key(item));
  }
}
