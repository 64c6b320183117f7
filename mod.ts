/**
 * A work queue with the semantics of Kubernetes client-go's `util/workqueue`. It folds duplicates, never hands one item
 * to two workers at once, retries with backoff, and shuts down without losing work.
 *
 * There are three layers, each with an interface and a factory function. {@linkcode createWorkQueue} creates a
 * first-in, first-out queue with de-duplication. {@linkcode createDelayingQueue} adds delays.
 * {@linkcode createRateLimitingQueue} adds a rate limiter, which decides how long a failed item is delayed.
 * {@linkcode runWorkers} runs a handler for each item of a queue. Functions such as
 * {@linkcode createExponentialLimiter} create limiters, and {@linkcode loadConfig} creates them from a config document.
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
export { type Duration, parseDuration } from "./lib/base/duration.ts";
export type { ErrorCode } from "./lib/base/error_codes.ts";
export { ConfigError, type ConfigIssue, TerminalError } from "./lib/base/errors.ts";
export { RetryAfterError, type RetryAfterResponse, type RetryScope } from "./lib/base/retry_after_error.ts";
export type { QueueDiscipline, QueueDisciplineFor, ReadyEntry } from "./lib/contracts/discipline.ts";
export {
  adaptMetrics,
  type Counter,
  type Gauge,
  type Histogram,
  InMemoryMetrics,
  type MetricFamily,
  type MetricsProvider,
  type SettableGauge,
} from "./lib/metrics/mod.ts";
export {
  adaptDiscipline,
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
  createDelayingQueue,
  createRetryBudget,
  type DelayingQueue,
  type DelayingQueueOptions,
  type RetryBudget,
  type RetryBudgetOptions,
} from "./lib/queue/delaying_queue.ts";
export {
  type AddAndWaitOptions,
  type CancelledFrom,
  createGivenUpStore,
  createRateLimitingQueue,
  type GivenUpEntry,
  GivenUpError,
  type GivenUpOptions,
  type GivenUpPage,
  type GivenUpQueue,
  type GivenUpRetention,
  type GivenUpSelection,
  type GivenUpStore,
  NOT_COUNTED,
  type RateLimitedAddOptions,
  type RateLimitingQueue,
  type RateLimitingQueueOptions,
  type RedriveOptions,
  type RedriveProgress,
} from "./lib/queue/rate_limiting_queue.ts";
export { type Reservation, TokenBucket } from "./lib/tokens/token_bucket.ts";
export type { AttemptResult, Permit, Throttle, ThrottleSnapshot } from "./lib/contracts/throttle.ts";
export { type ParallelizeOptions, parallelizeUntil } from "./lib/workers/parallelize.ts";
export {
  adaptThrottle,
  AddedAgainError,
  type AnyResult,
  type CancelledEnding,
  type Ending,
  type FailedEnding,
  type FailingItem,
  type GivenUpEnding,
  type GivenUpItem,
  type GiveUpReason,
  type Handler,
  type HandlerContext,
  type HandlerResult,
  type HeldNews,
  type Outcome,
  type PoolSnapshot,
  type RESULT,
  type Result,
  result,
  type ResultOf,
  type RetryLimits,
  type RunningItem,
  runWorkers,
  type SOURCE,
  type SourcedQueue,
  type WorkAttempt,
  type WorkerOptions,
  type WorkerPool,
  type WorkLease,
  type WorkRequest,
  type WorkSource,
} from "./lib/workers/run_workers.ts";
export {
  type BatchContext,
  type BatchHandler,
  type BatchOptions,
  type BatchOutcome,
  runBatches,
} from "./lib/workers/run_batches.ts";
export type { Registry } from "./registry/registry.ts";
export type * from "./registry/part_config.ts";
export type * from "./limiters/limiter_config.ts";
export type * from "./limiters/types.ts";
export { type LimiterRegistry, limiterRegistry } from "./limiters/limiter_registry.ts";
export { limiters } from "./limiters/limiters.ts";
export { createDefaultControllerLimiter, createDefaultItemLimiter } from "./limiters/defaults.ts";
export { defineLimiter } from "./limiters/definition.ts";
export { bucket, type BucketLimiter, type bucketOptions, createBucketLimiter } from "./limiters/bucket.ts";
export { createExponentialLimiter, exponential, type exponentialOptions } from "./limiters/exponential.ts";
export { createFastSlowLimiter, fastSlow, type fastSlowOptions } from "./limiters/fast_slow.ts";
export { createIgnoreEarlyLimiter, ignoreEarly, type ignoreEarlyOptions } from "./limiters/ignore_early.ts";
export { createJitterLimiter, jitter, type jitterOptions } from "./limiters/jitter.ts";
export { createMaxOfLimiter, maxOf, type maxOfOptions } from "./limiters/max_of.ts";
export { createMaxWaitLimiter, maxWait, type maxWaitOptions } from "./limiters/max_wait.ts";
export { createPerGroupLimiter, perGroup, type PerGroupLimiter, type perGroupOptions } from "./limiters/per_group.ts";
export { createStepsLimiter, steps, type stepsOptions } from "./limiters/steps.ts";
export type * from "./disciplines/discipline_config.ts";
export type * from "./disciplines/types.ts";
export { type DisciplineRegistry, disciplineRegistry } from "./disciplines/discipline_registry.ts";
export { disciplines } from "./disciplines/disciplines.ts";
export { defineDiscipline } from "./disciplines/definition.ts";
export { createFairDiscipline, fair, type FairOptions, type fairOptions } from "./disciplines/fair.ts";
export { createPriorityDiscipline, priority, type priorityOptions } from "./disciplines/priority.ts";
export type * from "./throttles/throttle_config.ts";
export type * from "./throttles/types.ts";
export { type ThrottleRegistry, throttleRegistry } from "./throttles/throttle_registry.ts";
export { throttles } from "./throttles/throttles.ts";
export { defineThrottle } from "./throttles/definition.ts";
export { type aimdOptions, createAimdThrottle } from "./throttles/aimd.ts";
export { type concurrencyOptions, createConcurrencyThrottle } from "./throttles/concurrency.ts";
export { loadConfig, type LoadConfigOptions } from "./config/load_config.ts";
export { loadConfigWith } from "./config/load_config_with.ts";
export type * from "./config/work_queue_config.ts";
export type { queueOptions } from "./config/queue_options.ts";
