/**
 * Interfaces for custom engines: a queue outside this process, from which pools take work, and displays of queues.
 *
 * - A queue from which {@linkcode runWorkers} takes work has a `[SOURCE]` method, which opens a {@linkcode WorkSource}.
 *   {@linkcode baseSource} has the members that most sources don't need.
 * - A queue may have an `[INSPECTION]` property with a {@linkcode RemoteInspection}, which displays read.
 *
 * `SOURCE` and `INSPECTION` are registered symbols, so they are the same in every copy of the package.
 *
 * @example A queue that keeps the traces of adds
 * ```ts
 * import { INSPECTION, type RemoteInspection } from "@workqueue/core/hooks";
 * import { assertEquals } from "@std/assert";
 *
 * class MyQueue {
 *   readonly [INSPECTION]: RemoteInspection = {
 *     keepsTraces: true,
 *     recordTimes: () => () => {},
 *     watchItem: () => () => {},
 *   };
 * }
 *
 * assertEquals(new MyQueue()[INSPECTION].keepsTraces, true);
 * assertEquals(INSPECTION, Symbol.for("workqueue.inspection"));
 * ```
 *
 * @module
 */

export { INSPECTION, SOURCE } from "../base/brands.ts";
export type { Clock } from "../base/clock.ts";
export type { Duration } from "../base/duration.ts";
export type { Counter, Gauge, Histogram, MetricsProvider, SettableGauge } from "../contracts/metrics.ts";
export type { ReadyEntry } from "../contracts/discipline.ts";
export type { GiveUpReason } from "../contracts/handler.ts";
export type * from "../contracts/item_event.ts";
export type * from "../contracts/queue_inspection.ts";
export type * from "../contracts/remote_snapshot.ts";
export type * from "../contracts/throttle.ts";
export type * from "../contracts/token_source.ts";
export type { AddOptions, Lease, QueueSnapshot, Shutdown } from "../contracts/work_queue.ts";
export type * from "../contracts/work_source.ts";
export type { FailingItem } from "../contracts/workers.ts";
export { type BaseSource, baseSource } from "../workers/base_source.ts";
export { onBucketChange } from "../tokens/bucket_changes.ts";
export { isTokenBucket } from "../tokens/is_token_bucket.ts";
export type { Reservation, TokenBucket } from "../tokens/token_bucket.ts";
export { inspectionOf } from "./queue_inspection.ts";
