/**
 * Script that measures a queue through a client that doesn't keep the process alive. The process must then exit by
 * itself.
 */

import { createClient } from "@redis/client";
import { InMemoryMetrics } from "@workqueue/core";
import { createRedisQueue, redisQueueMetrics } from "@workqueue/redis";
import process from "node:process";

const [url, name] = process.argv.slice(2);
const client = createClient({ url: url! });
await client.connect();
const queue = createRedisQueue({ name: name!, client });
const metrics = new InMemoryMetrics();
redisQueueMetrics(queue, metrics, { every: "1h" });
await queue.counts(); // resolves after the first measurement
console.log(metrics.value("workqueue_depth", name!));
client.unref();
