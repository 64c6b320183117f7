/**
 * Program of a user who has just installed the Redis queue. Every runtime runs the program, with the URL of a server.
 */

import { type Handler, loadConfig, runWorkers } from "@workqueue/core";
import { createRedisQueue, RedisConnectionError, redisQueues } from "@workqueue/redis";

declare const process: { argv: string[] }; // Node's types may be missing

const url = process.argv[2]!;
const config = loadConfig({
  limiters: { retry: { type: "exponential", baseDelay: "1ms", maxDelay: "1s" } },
  queues: { images: { limiter: "retry", concurrency: 2, maxRetries: 3 } },
});
const attempts: string[] = [];
const handler: Handler<string> = (item, { attempt, token, signal }) => {
  if (token === undefined || signal.aborted) throw new Error("no lease");
  attempts.push(`${item} ${attempt}`);
  if (item === "b" && attempt === 1) throw new Error("a hiccup");
};

const queue = redisQueues(config, { url }).queue("images");
runWorkers(queue, handler, { ...config.workers("images"), onError: () => {} });
await queue.addAll(["a", "b", "a"]);
await queue.whenIdle();
await queue.shutDownWithDrain();

const nobody = createRedisQueue({
  name: "nobody",
  url: "redis://127.0.0.1:1",
  callTimeout: "100ms",
  onQueueError: () => {},
});
const error = await nobody.add("a").catch((error: unknown) => error);
nobody.shutDown();

console.log(JSON.stringify({ attempts, isOurs: error instanceof RedisConnectionError }));
