import { hasMethods, requireExtensible } from "../base/arguments.ts";
import { METRICS, setBrand } from "../base/brands.ts";
import { invalidArgument } from "../base/errors.ts";
import type { MetricsProvider } from "../contracts/metrics.ts";
import type { QueueObserver } from "../contracts/queue_inspection.ts";
import { KeyTimes, type TimedQueue } from "./key_times.ts";
import { meterOf } from "./meter.ts";
import { PoolMetrics } from "./pool_metrics.ts";
import { QueueMetrics } from "./queue_metrics.ts";

/** Code that measures queues and pools. Providers bring it, so that programs without metrics don't contain it. */
export interface Measuring {
  /** Creates the observer that measures a queue. Passes on any error that the provider throws. */
  observerOf(queue: MeasuredQueue, provider: MetricsProvider, levels?: Readonly<Record<string, number>>): QueueObserver;
  readonly meterOf: typeof meterOf;
  readonly PoolMetrics: typeof PoolMetrics;
}

/** Queue that has metrics. */
export interface MeasuredQueue extends TimedQueue {
  readonly name: string;
  /** Number of blocked items. */
  readonly blocked: number;
}

const measuring: Measuring = {
  observerOf(queue, provider, levels) {
    const times = new KeyTimes(queue);
    times.listeners = [new QueueMetrics(provider, queue.name, times, levels, () => queue.blocked)];
    return times;
  },
  meterOf,
  PoolMetrics,
};

/**
 * Prepares a metrics provider of your own for queues in memory, which then report their metrics to it. The providers of
 * this package, `@workqueue/prometheus` and `@workqueue/opentelemetry` need no preparation. Programs without metrics
 * don't contain the code that measures.
 *
 * @example Count the adds
 * ```ts
 * import { adaptMetrics, createWorkQueue } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * let adds = 0;
 * const ignored = { inc() {}, dec() {}, observe() {}, set() {} };
 * const metrics = adaptMetrics({
 *   adds: () => ({ inc: () => adds++ }),
 *   depth: () => ignored,
 *   queueLatency: () => ignored,
 *   workDuration: () => ignored,
 *   unfinishedWork: () => ignored,
 *   longestRunningProcessor: () => ignored,
 *   retries: () => ignored,
 * });
 *
 * createWorkQueue<string>({ name: "images", metrics }).add("a");
 * assertEquals(adds, 1);
 * ```
 *
 * @typeParam P The type of the provider.
 * @param own The provider. It gets a symbol as a property, so it must not be frozen.
 * @returns The same provider.
 * @throws {TypeError} If `own` lacks a method of {@linkcode MetricsProvider} that is not optional, or can't get a
 * property.
 */
export function adaptMetrics<P extends MetricsProvider>(own: P): P {
  const missing = METHODS.find((method) => !hasMethods(own, method));
  if (missing !== undefined) throw invalidArgument("adapt metrics", "own", `must have the method ${missing}`, own);
  if (METRICS in own) return own;
  requireExtensible("adapt metrics", own);
  setBrand(own, METRICS, measuring);
  return own;
}

/** Methods that each provider has. */
const METHODS = [
  "depth",
  "adds",
  "queueLatency",
  "workDuration",
  "unfinishedWork",
  "longestRunningProcessor",
  "retries",
] as const;
