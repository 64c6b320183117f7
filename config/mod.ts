/**
 * Queues and limiters from a config document.
 *
 * @example Usage
 * ```ts
 * import { loadConfig } from "@workqueue/core/config";
 * import { assertEquals } from "@std/assert";
 *
 * const config = loadConfig(`{ "queues": { "images": { "concurrency": 4, "timeout": "30s" } } }`);
 * assertEquals(config.workers("images"), { concurrency: 4, timeout: 30_000 });
 * ```
 *
 * @module
 */

export type { SOURCE } from "../lib/base/brands.ts";
export type { RESULT, Result } from "../lib/base/result.ts";
export { ConfigError, type ConfigIssue } from "../lib/base/errors.ts";
export type * from "../lib/contracts/discipline.ts";
export type { Counter, Gauge, Histogram, MetricsProvider, SettableGauge } from "../lib/contracts/metrics.ts";
export type * from "../lib/contracts/rate_limiting_queue.ts";
export type * from "../lib/contracts/delaying_queue.ts";
export type * from "../lib/contracts/work_queue.ts";
export type * from "../lib/contracts/given_up.ts";
export type * from "../lib/contracts/handler.ts";
export type { FailingItem, PoolSnapshot, RunningItem, WorkerOptions, WorkerPool } from "../lib/contracts/workers.ts";
export type * from "../lib/contracts/work_source.ts";
export type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
export { type Reservation, TokenBucket } from "../lib/tokens/token_bucket.ts";
export { DisciplineRegistry } from "../disciplines/discipline_registry.ts";
export type * from "../disciplines/discipline_config.ts";
export type * from "../disciplines/types.ts";
export { LimiterRegistry } from "../limiters/limiter_registry.ts";
export type * from "../limiters/limiter_config.ts";
export type * from "../limiters/types.ts";
export type * from "../throttles/throttle_config.ts";
export type * from "../throttles/types.ts";
export type { ThrottleRegistry } from "../throttles/throttle_registry.ts";
export type * from "../registry/part_config.ts";
export { Registry } from "../registry/registry.ts";
export { loadConfig, type LoadConfigOptions } from "./load_config.ts";
export { loadConfigWith } from "./load_config_with.ts";
export type * from "./work_queue_config.ts";
export { queueOptions } from "./queue_options.ts";
export { configSchema, type ConfigSchemaOptions } from "./schema.ts";
