/**
 * A work queue with the semantics of Kubernetes client-go's `util/workqueue`: it folds duplicates, never
 * hands one item to two workers, retries with backoff, and shuts down without losing work.
 *
 * There are three layers, each an interface with a factory: {@linkcode createWorkQueue} is first in, first
 * out with de-duplication, {@linkcode createDelayingQueue} adds delays, {@linkcode createRateLimitingQueue}
 * adds a rate limiter that says how long a failed item waits. {@linkcode runWorkers} runs a handler over a
 * queue. Limiters are made by functions such as {@linkcode createExponentialLimiter}, or from a config
 * document by {@linkcode loadConfig}.
 *
 * @example Usage
 * ```ts
 * import { createExponentialLimiter, createRateLimitingQueue, runWorkers } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const limiter = createExponentialLimiter({ baseDelay: "5ms", maxDelay: "1m" });
 * const queue = createRateLimitingQueue<string>(limiter);
 * for (const key of ["default/web", "default/db", "default/web"]) queue.add(key);
 *
 * const reconciled: string[] = [];
 * runWorkers(queue, (key) => void reconciled.push(key), { concurrency: 2 });
 * await queue.shutDownWithDrain();
 *
 * assertEquals(reconciled, ["default/web", "default/db"]);
 * ```
 *
 * @module
 */

export { type Clock, systemClock } from "./lib/base/clock.ts";
export { createDelayingQueue, type DelayingQueue, type DelayingQueueOptions } from "./lib/queue/delaying_queue.ts";
export type { QueueDiscipline, QueueDisciplineFor, ReadyEntry } from "./lib/contracts/discipline.ts";
export type { AttemptCounts, QueueHooks } from "./lib/contracts/queue_hooks.ts";
export { type Duration, parseDuration } from "./lib/base/duration.ts";
export {
  type Counter,
  type Gauge,
  type Histogram,
  InMemoryMetrics,
  metricFamilies,
  type MetricFamily,
  type MetricsProvider,
  type SettableGauge,
} from "./lib/metrics/mod.ts";
export { type ParallelizeOptions, parallelizeUntil } from "./lib/workers/parallelize.ts";
export {
  createRateLimitingQueue,
  type RateLimitedAddOptions,
  type RateLimitingQueue,
  type RateLimitingQueueOptions,
} from "./lib/queue/rate_limiting_queue.ts";
export {
  type AddOptions,
  createWorkQueue,
  type DrainOptions,
  type Lease,
  type QueueSnapshot,
  type Shutdown,
  type SnapshotOptions,
  type WorkQueue,
  type WorkQueueOptions,
} from "./lib/queue/work_queue.ts";
export {
  type Ending,
  type FailingItem,
  type Handler,
  type HandlerContext,
  type Outcome,
  type PoolSnapshot,
  RetryAfterError,
  type RunningItem,
  runWorkers,
  SOURCE,
  type SourcedQueue,
  TerminalError,
  type TokenSource,
  type WorkAttempt,
  type WorkerOptions,
  type WorkerPool,
  type WorkLease,
  type WorkRequest,
  type WorkSource,
} from "./lib/workers/run_workers.ts";
export * from "./config/mod.ts";
export * from "./disciplines/mod.ts";
export * from "./limiters/mod.ts";
