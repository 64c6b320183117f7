/**
 * Metrics of queues and pools, and the providers that receive them.
 *
 * Seven metrics have the same meaning as in client-go. Kubernetes exports them under the names in this table, with the
 * queue's name as the label `name`:
 *
 * | method of {@linkcode MetricsProvider} | exported as | unit |
 * | --- | --- | --- |
 * | `depth` | `workqueue_depth` | items |
 * | `adds` | `workqueue_adds_total` | adds |
 * | `queueLatency` | `workqueue_queue_duration_seconds` | seconds |
 * | `workDuration` | `workqueue_work_duration_seconds` | seconds |
 * | `unfinishedWork` | `workqueue_unfinished_work_seconds` | seconds |
 * | `longestRunningProcessor` | `workqueue_longest_running_processor_seconds` | seconds |
 * | `retries` | `workqueue_retries_total` | calls to `addAfter` and `addRateLimited` |
 *
 * One more metric exists for queues with `priorityLevels`. This metric has the level's name as the label `priority`:
 *
 * | method of {@linkcode MetricsProvider} | exported as | unit |
 * | --- | --- | --- |
 * | `priorityDepth` | `workqueue_depth_by_priority` | items |
 *
 * Seven more metrics are not in client-go. `workqueue_given_up_total` has the reason as the label `reason`:
 *
 * | method of {@linkcode MetricsProvider} | exported as | unit |
 * | --- | --- | --- |
 * | `delayed` | `workqueue_delayed` | items |
 * | `blocked` | `workqueue_blocked` | items |
 * | `oldestReady` | `workqueue_oldest_ready_seconds` | seconds |
 * | `active` | `workqueue_active` | handlers |
 * | `concurrency` | `workqueue_concurrency` | handlers |
 * | `failures` | `workqueue_failures_total` | failed attempts |
 * | `givenUp` | `workqueue_given_up_total` | items |
 *
 * @module
 */

export type * from "../contracts/metrics.ts";
export type { GiveUpReason } from "../contracts/handler.ts";
export type { TimesRecorder } from "../contracts/queue_inspection.ts";
export { adaptMetrics } from "./adapt_metrics.ts";
export { metricFamilies, type MetricFamily } from "./families.ts";
export { beginMeasuring } from "./measured_name.ts";
export { type Meter, type MeteredMethod, type MeterOf, meterOf } from "./meter.ts";
export { InMemoryMetrics } from "./in_memory_metrics.ts";
export { type FailedAttempt, type FailureWatcher, watchFailures } from "./failure_watch.ts";
export { type RecordedTimes, recordTimes } from "./recorded_times.ts";
export { Recorders } from "./recorders.ts";
export { type Totals, totalsOf } from "./totals.ts";
