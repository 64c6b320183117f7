/**
 * A webhook receiver that coalesces bursts: a push of ten branches causes ten POST requests, but the repository is
 * mirrored only once. The receiver answers immediately and works later, so no sender waits or sends an event twice.
 *
 * ```sh
 * npx -y deno run -A examples/recipes/webhooks.ts
 * bun examples/recipes/webhooks.ts
 * ```
 *
 * @module
 */

import { createExponentialLimiter, createFairDiscipline, createRateLimitingQueue, runWorkers } from "@workqueue/core";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";

/**
 * Period during which the events for a repository are collected, in milliseconds. The period begins with the first
 * event.
 */
const WINDOW = 500;

const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: "1s", maxDelay: "5m" }), {
  discipline: createFairDiscipline({ separator: "/" }), // an owner with many repositories doesn't delay other owners
});

runWorkers(queue, (repository) => {
  console.log(`mirrored ${repository}`); // the work goes here: fetch the current state, ignore the events
}, { concurrency: 4, maxRetries: 10 });

const server = createServer(async (request, response) => {
  const event = await json(request).catch(() => undefined) as { repository?: unknown } | undefined;
  if (typeof event?.repository !== "string") return response.writeHead(400).end();
  if (queue.shuttingDown) return response.writeHead(503).end(); // a draining queue would ignore the event
  queue.addAfter(event.repository, WINDOW); // the earlier deadline wins, so later events do not postpone the work
  response.writeHead(202).end();
});
server.listen(0, "127.0.0.1");
await once(server, "listening");

// The rest is a demo: a burst for two repositories, and a shutdown. A real service waits for SIGTERM and then drains
// like `deploy.ts`. The service must not lose events, because it has answered 202, but it has no time to wait for
// delayed events.
const { port } = server.address() as AddressInfo;
for (let i = 0; i < 40; i++) {
  const body = JSON.stringify({ repository: i % 2 === 0 ? "acme/web" : "acme/api" });
  const response = await fetch(`http://127.0.0.1:${port}`, { method: "POST", body });
  await response.body?.cancel();
}
server.close();
await queue.shutDownWithDrain({ delayed: "wait" });
