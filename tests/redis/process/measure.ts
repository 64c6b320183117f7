/**
 * Measures a queue by a client that keeps no process alive. The process is to end by itself once it has been measured.
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
await queue.counts(); // comes after the first look
console.log(metrics.value("workqueue_depth", name!));
client.unref();
