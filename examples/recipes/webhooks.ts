/**
 * A webhook receiver that folds bursts: a push of ten branches is ten POSTs, but one mirroring of the
 * repository. It answers at once and works later, so that no sender waits or repeats itself.
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

/** How long the events of a repository are gathered, in milliseconds, from the first one on. */
const WINDOW = 500;

const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: "1s", maxDelay: "5m" }), {
  discipline: createFairDiscipline({ separator: "/" }), // an owner of many repositories holds up nobody else
});

runWorkers(queue, (repository) => {
  console.log(`mirrored ${repository}`); // here goes the work: fetch it as it is now, whatever the events were
}, { concurrency: 4, maxRetries: 10 });

const server = createServer(async (request, response) => {
  const event = await json(request).catch(() => undefined) as { repository?: unknown } | undefined;
  if (typeof event?.repository !== "string") return response.writeHead(400).end();
  if (queue.shuttingDown) return response.writeHead(503).end(); // it would ignore the event
  queue.addAfter(event.repository, WINDOW); // the earlier deadline wins: later events do not put it off
  response.writeHead(202).end();
});
server.listen(0, "127.0.0.1");
await once(server, "listening");

// What follows is for show: a burst for two repositories, and the end. A service waits for SIGTERM, and drains as
// `deploy.ts` does: it has said 202 and must not forget, but has no time to wait either.
const { port } = server.address() as AddressInfo;
for (let i = 0; i < 40; i++) {
  const body = JSON.stringify({ repository: i % 2 === 0 ? "acme/web" : "acme/api" });
  const response = await fetch(`http://127.0.0.1:${port}`, { method: "POST", body });
  await response.body?.cancel();
}
server.close();
await queue.shutDownWithDrain({ delayed: "wait" });
