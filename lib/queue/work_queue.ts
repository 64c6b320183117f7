/**
 * Layer 1: a FIFO queue that folds duplicates and never hands out an item to two consumers at once.
 *
 * @module
 */

import { requireRules } from "../base/arguments.ts";
import type { WorkQueue, WorkQueueOptions } from "../contracts/work_queue.ts";
import { WORK_QUEUE_RULES } from "./options.ts";
import { ServedQueue } from "./served_queue.ts";

export { adaptDiscipline } from "./adapt_discipline.ts";
export { adaptMetrics } from "../metrics/adapt_metrics.ts";
export type { Clock } from "../base/clock.ts";
export type { Duration } from "../base/duration.ts";
export type * from "../contracts/discipline.ts";
export type { GiveUpReason } from "../contracts/handler.ts";
export type { Counter, Gauge, Histogram, MetricsProvider, SettableGauge } from "../contracts/metrics.ts";
export type * from "../contracts/work_queue.ts";

/**
 * Creates a {@linkcode WorkQueue}.
 *
 * @example Usage
 * ```ts
 * import { createWorkQueue } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const queue = createWorkQueue<string>();
 * queue.add("a");
 * queue.add("b");
 * queue.add("a"); // folded: "a" is ready already
 * queue.shutDown();
 *
 * const worked: string[] = [];
 * for await (const item of queue) worked.push(item);
 * assertEquals(worked, ["a", "b"]);
 * ```
 *
 * @example Items that are objects
 * ```ts
 * import { createWorkQueue } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const queue = createWorkQueue<{ id: number; version: number }>({ keyOf: (pod) => pod.id });
 * queue.add({ id: 1, version: 1 });
 * queue.add({ id: 1, version: 2 });
 *
 * using lease = await queue.get();
 * assertEquals(lease.item?.version, 2);
 * assertEquals(queue.length, 0);
 * ```
 *
 * @typeParam T The type of the items.
 * @param options The queue's options. All are optional.
 * @returns An empty queue.
 * @throws {TypeError} If an option is unknown or has an invalid value.
 * @throws {RangeError} If an option has an invalid numeric value.
 * @throws Any error that the metrics provider throws when it creates a metric.
 */
export function createWorkQueue<T>(options: WorkQueueOptions<T> = {}): WorkQueue<T> {
  requireRules("create work queue", options, WORK_QUEUE_RULES);
  return new ServedQueue(options);
}
