/** Places on Redis for the suites of queues that processes share. */

import { createRedisQueue, type RedisQueue, redisQueueMetrics, redisQueues } from "@workqueue/redis";
import type { RemotePlace, RemoteTest } from "../contracts/remote_place.ts";
import { redisTest } from "./redis_tests.ts";
import { callRedis } from "./server.ts";

/** Returns the place on a server. */
export function redisPlace(url: string): RemotePlace {
  return {
    product: "Redis",
    open: (options) => createRedisQueue({ url, ...options }),
    openFrom: (config, name) => redisQueues(config, { url }).queue(name),
    async makeOlder(name, items, ms) {
      for (const item of items) await callRedis(url, "ZINCRBY", `workqueue:{${name}}:ready`, `${-ms * 1000}`, item);
    },
    measure: (queue, metrics, options) => redisQueueMetrics(queue as RedisQueue<never>, metrics, options),
  };
}

/** Registers a test with queues on the server that the tests of a file share. */
export const onRedis: RemoteTest = (name, run) => redisTest(`Redis: ${name}`, ({ url }) => run(redisPlace(url)));
