/**
 * Work queue on Redis or Valkey: the same queue, handlers and config as in memory, shared by many processes.
 *
 * @module
 */

import "./core_version.ts"; // first, so that no other module fails because of another core version

export type { RedisClient } from "./connection/connection.ts";
export type { IoRedisClient } from "./connection/ioredis.ts";
export type { NodeRedisClient, NodeRedisCommandOptions } from "./connection/node_redis.ts";
export { RedisConnectionError } from "./connection/errors.ts";
export * from "./contract.ts";
export { createRedisQueue } from "./create_queue.ts";
export { redisQueueMetrics, type RedisQueueMetricsOptions } from "./queue_metrics.ts";
export { type RedisQueues, redisQueues } from "./queues.ts";
// Types that the public types of this package refer to, directly or indirectly.
export type * from "@workqueue/core";
