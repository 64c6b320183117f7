/**
 * Interfaces for custom engines: a queue outside this process, from which pools take work, and displays of queues.
 *
 * - A queue from which {@linkcode runWorkers} takes work has a `[SOURCE]` method, which opens a {@linkcode WorkSource}.
 * - A queue may have a `[HOOKS]` property with {@linkcode QueueHooks}, which displays read. Every hook is optional and
 *   documents what is lost without it.
 *
 * `SOURCE` and `HOOKS` are registered symbols, so they are the same in every copy of the package.
 *
 * @example A queue that keeps given-up items
 * ```ts
 * import { HOOKS, type QueueHooks } from "@workqueue/core/hooks";
 * import { assertEquals } from "@std/assert";
 *
 * class MyQueue {
 *   readonly [HOOKS]: QueueHooks<string> = { keepsGivenUp: true };
 * }
 *
 * assertEquals(new MyQueue()[HOOKS].keepsGivenUp, true);
 * assertEquals(HOOKS, Symbol.for("workqueue.hooks"));
 * ```
 *
 * @module
 */

export { HOOKS, SOURCE } from "../base/brands.ts";
export type { Clock } from "../base/clock.ts";
export type { Duration } from "../base/duration.ts";
export type { Counter, Gauge, Histogram, MetricsProvider, SettableGauge } from "../contracts/metrics.ts";
export type { ReadyEntry } from "../contracts/discipline.ts";
export type { GiveUpReason } from "../contracts/handler.ts";
export type * from "../contracts/queue_hooks.ts";
export type * from "../contracts/throttle.ts";
export type * from "../contracts/token_source.ts";
export type { AddOptions, Lease, Shutdown } from "../contracts/work_queue.ts";
export type * from "../contracts/work_source.ts";
export { onBucketChange } from "../tokens/bucket_changes.ts";
export { isTokenBucket } from "../tokens/is_token_bucket.ts";
export type { Reservation, TokenBucket } from "../tokens/token_bucket.ts";
