/**
 * Work queue on Redis or Valkey: the same queue and handlers as in memory, for many processes.
 *
 * @module
 */

import "./core_version.ts"; // imported first, so that a wrong core version fails here and not in another module

export type { RedisClient } from "./connection/connection.ts";
export type { IoRedisClient } from "./connection/ioredis.ts";
export type { NodeRedisClient, NodeRedisCommandOptions } from "./connection/node_redis.ts";
export type { RedisTlsOptions } from "./connection/tls.ts";
export { RedisConnectionError } from "./connection/errors.ts";
export * from "./contract.ts";
export { createRedisQueue } from "./create_queue.ts";
export { redisQueueMetrics, type RedisQueueMetricsOptions } from "./queue_metrics.ts";
export { type RedisQueues, redisQueues } from "./queues.ts";
// Types used by the public types of this package, directly or indirectly.
export type * from "@workqueue/core";
export type {
  QueueCounts,
  QueueTotals,
  RemoteAddAllOptions,
  RemoteAddAllResult,
  RemoteAddAndWaitOptions,
  RemoteAddOptions,
  RemoteBlockedGroup,
  RemoteLease,
  RemoteQueue,
  RemoteQueueMetricsOptions,
  RemoteQueueOptions,
  RemoteQueueSnapshot,
} from "@workqueue/engine";
