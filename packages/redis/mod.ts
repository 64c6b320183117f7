/**
 * The work queue on Redis or Valkey: the same queue, handler and config, shared by many processes.
 *
 * @module
 */

import "./core_version.ts"; // first, so that no other module fails because of another core

export type { RedisClient } from "./connection/connection.ts";
export type { IoRedisClient } from "./connection/ioredis.ts";
export type { NodeRedisClient, NodeRedisCommandOptions } from "./connection/node_redis.ts";
export { RedisConnectionError } from "./connection/errors.ts";
export * from "./contract.ts";
export { createRedisQueue } from "./create_queue.ts";
export { redisQueueMetrics, type RedisQueueMetricsOptions } from "./queue_metrics.ts";
export { type RedisQueues, redisQueues } from "./queues.ts";
// Those that the types of this package are made of, and what these are made of.
export type * from "@workqueue/core";
