/**
 * Receives webhooks for workers in other processes. Several such processes run behind a load balancer. A sender gets
 * its 202 once the event is on the server, so no event is lost when this process ends. `webhook_deploy.ts` runs it.
 *
 * @module
 */

import { createRedisQueue } from "@workqueue/redis";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { json } from "node:stream/consumers";

/** Time for which the events of a repository are gathered, in milliseconds, from the first event on. */
const WINDOW = 500;

const queue = createRedisQueue({
  name: "mirrors",
  url: process.env["WORKQUEUE_REDIS_URL"],
  callTimeout: "2s", // senders do not wait longer
});

const server = createServer(async (request, response) => {
  const event = await json(request).catch(() => undefined) as { repository?: unknown } | undefined;
  if (typeof event?.repository !== "string") return response.writeHead(400).end();
  try {
    await queue.addAfter(event.repository, WINDOW); // the earliest deadline of all receivers wins
    response.writeHead(202).end();
  } catch {
    response.writeHead(503).end(); // the sender retries; the queue has reported the error
  }
});
server.listen(Number(process.env["PORT"] ?? 0), "127.0.0.1");
await once(server, "listening");
console.log(`listens on ${(server.address() as AddressInfo).port}`);

process.once("SIGTERM", () => {
  server.close(() => queue.shutDown()); // after all requests are answered
});
