/**
 * Receives webhooks and queues them for workers in other processes. Several receivers run behind a load balancer. A
 * sender receives a 202 response once the event is stored on the Redis server, so no event is lost if the receiver
 * exits. `webhook_deploy.ts` runs this program.
 *
 * @module
 */

import { createRedisQueue } from "@workqueue/redis";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { json } from "node:stream/consumers";

/**
 * Period during which the events for a repository are collected, in milliseconds. The period begins with the first
 * event.
 */
const WINDOW = 500;

const queue = createRedisQueue({
  name: "mirrors",
  url: process.env["WORKQUEUE_REDIS_URL"],
  callTimeout: "2s", // a sender never waits longer than this
});

const server = createServer(async (request, response) => {
  const event = await json(request).catch(() => undefined) as { repository?: unknown } | undefined;
  if (typeof event?.repository !== "string") return response.writeHead(400).end();
  try {
    await queue.addAfter(event.repository, WINDOW); // if several receivers add a repository, the earliest deadline wins
    response.writeHead(202).end();
  } catch {
    response.writeHead(503).end(); // the sender retries; the queue has reported the error
  }
});
server.listen(Number(process.env["PORT"] ?? 0), "127.0.0.1");
await once(server, "listening");
console.log(`listens on ${(server.address() as AddressInfo).port}`);

process.once("SIGTERM", () => {
  server.close(() => queue.shutDown()); // shuts down once all requests have been answered
});
