/**
 * Serves the metrics of a queue for Prometheus at http://127.0.0.1:9464/metrics. To use a different port, pass it as an
 * argument:
 *
 * ```sh
 * npx -y deno run -A --config deno.all.json examples/metrics.ts 9464
 * bun examples/metrics.ts 9464
 * ```
 *
 * Node must be version 22.18 or later to run TypeScript, and both packages must be installed.
 *
 * @module
 */

import { createDefaultItemLimiter, createRateLimitingQueue, runWorkers } from "@workqueue/core";
import { prometheusMetrics } from "@workqueue/prometheus";
import { createServer } from "node:http";
import process from "node:process";
import { register } from "prom-client";

const metrics = prometheusMetrics(register); // one provider for all queues in the process
const queue = createRateLimitingQueue<string>(createDefaultItemLimiter(), { name: "images", metrics });
runWorkers(queue, (image) => console.log(`resized ${image}`), { concurrency: 2 });
for (const image of ["cat.jpg", "dog.jpg", "cat.jpg"]) queue.add(image);

const server = createServer(async (_request, response) => {
  response.setHeader("content-type", register.contentType).end(await register.metrics());
});
server.listen(Number(process.argv[2] ?? 9464), "127.0.0.1", () => console.log("serves", server.address()));
