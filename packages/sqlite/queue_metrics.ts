import type { MetricsProvider } from "@workqueue/core";
import { measureRemoteQueue, type RemoteQueueMetricsOptions } from "@workqueue/engine";
import type { SqliteQueue } from "./contract.ts";
import { PRODUCT } from "./product.ts";

/** Options of {@linkcode sqliteQueueMetrics}. */
export type SqliteQueueMetricsOptions = RemoteQueueMetricsOptions;

/**
 * Measures the whole queue in the file. Sets the `depth`, `delayed`, `blocked` and `oldestReady` gauges, if the
 * provider has them. To measure the work of each process, use the queue's `metrics` option.
 *
 * **Measure each queue in only one process.** The numbers cover all processes. If ten processes report the same depth,
 * the sum is ten times too high.
 *
 * The first measurement starts immediately. Further measurements follow every five seconds (`every`), until the result
 * is disposed or the queue object is shut down. They don't keep the process alive. If a measurement fails, the error is
 * reported to the queue's `onQueueError`. Further failures are not reported until a measurement succeeds.
 *
 * After a failure and after the last measurement, the gauges are `NaN`, because their values are unknown. Exporters
 * omit `NaN`. A gauge without `set` is reset to 0 instead. If a gauge throws, the other gauges are still set, and the
 * gauge's first error is written to `console.error`. A second call with the same queue name and provider replaces the
 * first measurement.
 *
 * @example Usage
 * ```ts
 * import { InMemoryMetrics } from "@workqueue/core";
 * import { createSqliteQueue, sqliteQueueMetrics } from "@workqueue/sqlite";
 * import { mkdtempSync } from "node:fs";
 *
 * const folder = mkdtempSync("/tmp/images-"); // use a folder that stays
 * const metrics = new InMemoryMetrics(); // or prometheusMetrics(), or openTelemetryMetrics(meter)
 * await using queue = createSqliteQueue({ name: "images", path: `${folder}/queue.db` });
 * using _measuring = sqliteQueueMetrics(queue, metrics, { every: "10s" });
 * await queue.add("cat.jpg");
 * console.log(metrics.value("workqueue_depth", "images"));
 * ```
 *
 * @typeParam T The type of the items.
 * @param queue The queue, from {@linkcode createSqliteQueue} or {@linkcode sqliteQueues}.
 * @param metrics The metrics provider. By default, the queue's `metrics` option.
 * @param options The pause between two measurements.
 * @returns An object that ends the measurement when disposed.
 * @throws {TypeError} If an argument or option is of the wrong type, if an option is unknown, or if there is no
 * provider.
 * @throws {RangeError} If `every` is out of range.
 */
export function sqliteQueueMetrics<T>(
  queue: SqliteQueue<T>,
  metrics?: MetricsProvider,
  options: SqliteQueueMetricsOptions = {},
): Disposable {
  return measureRemoteQueue(PRODUCT, queue, metrics, options);
}
