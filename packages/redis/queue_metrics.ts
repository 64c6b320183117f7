import type { MetricsProvider } from "@workqueue/core";
import { measureRemoteQueue, type RemoteQueueMetricsOptions } from "@workqueue/engine";
import type { RedisQueue } from "./contract.ts";
import { PRODUCT } from "./product.ts";

/** Options of {@linkcode redisQueueMetrics}. */
export type RedisQueueMetricsOptions = RemoteQueueMetricsOptions;

/**
 * Measures the whole queue on the server. Sets the `depth`, `delayed`, `blocked` and `oldestReady` gauges, if the
 * provider has them. To measure the work of each process, use the queue's `metrics` option.
 *
 * **Measure each queue in only one process.** The numbers cover all processes. If ten processes report the same depth,
 * the sum is ten times too high.
 *
 * The first measurement starts immediately. Further measurements follow every five seconds (`every`), until the result
 * is disposed or the queue object is shut down. If a measurement fails, the error is reported to the queue's
 * `onQueueError`. Further failures are not reported until a measurement succeeds.
 *
 * After a failure and after the last measurement, the gauges are `NaN`, because their values are unknown. Exporters
 * omit `NaN`. A gauge without `set` is reset to 0 instead. If a gauge throws, the other gauges are still set, and the
 * gauge's first error is written to `console.error`. A second call with the same queue name and provider replaces the
 * first measurement.
 *
 * @example Usage
 * ```ts ignore
 * import { InMemoryMetrics } from "@workqueue/core";
 * import { createRedisQueue, redisQueueMetrics } from "@workqueue/redis";
 *
 * const metrics = new InMemoryMetrics(); // or prometheusMetrics(), or openTelemetryMetrics(meter)
 * await using queue = createRedisQueue({ name: "images", url: "redis://localhost:6379" });
 * using _measuring = redisQueueMetrics(queue, metrics, { every: "10s" });
 * await queue.add("cat.jpg");
 * console.log(metrics.value("workqueue_depth", "images"));
 * ```
 *
 * @typeParam T The type of the items.
 * @param queue The queue, from {@linkcode createRedisQueue} or {@linkcode redisQueues}.
 * @param metrics The metrics provider. By default, the queue's `metrics` option.
 * @param options The pause between two measurements.
 * @returns An object that ends the measurement when disposed.
 * @throws {TypeError} If an argument or option is of the wrong type, if an option is unknown, or if there is no
 * provider.
 * @throws {RangeError} If `every` is out of range.
 */
export function redisQueueMetrics<T>(
  queue: RedisQueue<T>,
  metrics?: MetricsProvider,
  options: RedisQueueMetricsOptions = {},
): Disposable {
  return measureRemoteQueue(PRODUCT, queue, metrics, options);
}
