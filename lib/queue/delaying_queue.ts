/**
 * Layer 2: a work queue that can add items after a delay.
 *
 * @module
 */

import { requireRules } from "../base/arguments.ts";
import { timeoutRule } from "../base/duration_arguments.ts";
import type { DelayingQueue, DelayingQueueOptions } from "../contracts/delaying_queue.ts";
import { DelayedQueue } from "./delayed_queue.ts";
import { delayingRules } from "./options.ts";

export type * from "../contracts/delaying_queue.ts";
export * from "./work_queue.ts";
export { createRetryBudget } from "./retry_budget.ts";

/**
 * Creates a {@linkcode DelayingQueue}.
 *
 * @example Usage
 * ```ts
 * import { createDelayingQueue } from "@workqueue/core";
 * import { FakeTime } from "@std/testing/time";
 * import { assertEquals } from "@std/assert";
 *
 * using time = new FakeTime();
 * using queue = createDelayingQueue<string>();
 * queue.addAfter("later", 2000);
 * queue.addAfter("sooner", 1000);
 *
 * time.tick(1000);
 * assertEquals(queue.tryGet()?.item, "sooner");
 * assertEquals(queue.delayed, 1);
 * ```
 *
 * @typeParam T The type of the items.
 * @param options The queue's options. All are optional.
 * @returns An empty queue.
 * @throws {RangeError} If an option has an invalid numeric value, such as a `maxSleep` that is out of bounds.
 * @throws {TypeError} If an option is unknown or otherwise invalid.
 * @throws Any error that the metrics provider throws when it creates a metric.
 */
export function createDelayingQueue<T>(options: DelayingQueueOptions<T> = {}): DelayingQueue<T> {
  requireRules("create delaying queue", options, delayingRules(timeoutRule()));
  return new DelayedQueue(options);
}
