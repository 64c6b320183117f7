/**
 * The work queue of `@workqueue/core` on Redis or Valkey, for more than one process.
 *
 * @module
 */

export { RedisConnectionError } from "./connection/errors.ts";
export type { RedisClient } from "./connection/connection.ts";
export type { IoRedisClient } from "./connection/ioredis.ts";
export type { NodeRedisClient, NodeRedisCommandOptions } from "./connection/node_redis.ts";
