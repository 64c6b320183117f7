/** Tests of the metrics of queues on Redis: those of every engine, and what a server may do. */

import { assertEquals } from "@std/assert";
import { createRedisQueue, redisQueueMetrics } from "@workqueue/redis";
import { processMetricsSuite } from "../contracts/process_metrics_suite.ts";
import { EVERY, isUnknown, queueMetricsSuite, Watched } from "../contracts/queue_metrics_suite.ts";
import { onRedis } from "./place.ts";
import { RedisProxy } from "./proxy.ts";
import { redisTest, serverTest, uniqueName } from "./redis_tests.ts";
import { RedisServer } from "./server.ts";

queueMetricsSuite(onRedis);
processMetricsSuite(onRedis);

redisTest("queue metrics: each measurement is one call", async ({ url }) => {
  await using proxy = await RedisProxy.start(url);
  const name = uniqueName("metrics");
  await using queue = createRedisQueue({ name, url: proxy.url });
  const metrics = new Watched(name);
  using _measuring = redisQueueMetrics(queue, metrics, EVERY);
  await metrics.until(() => metrics.looks.length >= 3);
  // Requests arrive in pieces. One more call reads the server's settings, and one defines the queue.
  assertEquals(proxy.requests.join("").split(`{${name}}:meta`).length - 1, metrics.looks.length + 2);
});

serverTest("queue metrics: while the server is away, the values are unknown, which is reported once", async () => {
  await using server = await RedisServer.start({ appendonly: true });
  const name = uniqueName("metrics");
  const errors: string[] = [];
  const onQueueError = (error: unknown) => void errors.push(String(error));
  await using queue = createRedisQueue({ name, url: server.url, callTimeout: 400, onQueueError });
  await queue.add("a");
  const metrics = new Watched(name);
  using _measuring = redisQueueMetrics(queue, metrics, EVERY);
  await metrics.until(({ depth }) => depth === 1);
  for (const outage of [1, 2]) {
    await server.kill("SIGKILL");
    await metrics.until(isUnknown);
    await queue.counts().catch(() => {}); // when this call fails, the next measurement has failed too or soon will
    await queue.counts().catch(() => {});
    await queue.counts().catch(() => {});
    await server.start();
    await metrics.until(({ depth }) => depth === 1);
    assertEquals(errors.length, outage * 4, errors.join("\n"));
  }
});
