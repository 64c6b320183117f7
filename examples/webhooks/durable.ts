/**
 * A service that delivers webhooks from a queue in a file. A delivery is on the disk before the service answers 202,
 * and survives crashes and deploys. docs/webhooks.md explains the service.
 *
 * ```sh
 * npx -y deno run -A --config deno.all.json examples/webhooks/durable.ts
 * bun examples/webhooks/durable.ts
 * ```
 *
 * @module
 */

import { loadConfigFile, watchConfigFile } from "@workqueue/config-file";
import { allowLocal, createDashboard } from "@workqueue/dashboard";
import { prometheusMetrics } from "@workqueue/prometheus";
import { sqliteQueueMetrics, sqliteQueues } from "@workqueue/sqlite";
import { getRequestListener } from "@hono/node-server";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { json } from "node:stream/consumers";
import { register } from "prom-client";
import { deliver, type Delivery, isDelivery, keyOf } from "./deliver.ts";

const [configFile = new URL("service.json", import.meta.url)] = process.argv.slice(2);
/**
 * Time allowed for deliveries to finish after SIGTERM, in milliseconds. Must be shorter than the time until the
 * orchestrator kills the process; the default is five seconds shorter than the usual 30 s.
 */
const GRACE = Number(process.env["GRACE"] ?? 25_000);
/** Time after a crash until the deliveries that were being sent are sent again. */
const LEASE = process.env["LEASE"] ?? "10s";

const config = loadConfigFile(configFile, { metrics: prometheusMetrics(register) });
const queue = sqliteQueues(config, { path: "deliveries.db", leaseDuration: LEASE })
  .queue<Delivery>("deliveries", { keyOf });
const tooLong = new AbortController();
const pool = config.runWorkers("deliveries", queue, deliver, {
  signal: tooLong.signal,
  onError: (error, delivery, attempt) => console.warn(`${keyOf(delivery)}: attempt ${attempt} failed: ${error}`),
  onGiveUp: (error, delivery, attempts) =>
    console.error(`${keyOf(delivery)}: given up after ${attempts} attempts: ${error}`),
});
watchConfigFile(configFile, config);
sqliteQueueMetrics(queue);

const dashboard = createDashboard({
  queues: { deliveries: { queue, pool } },
  config,
  view: allowLocal,
  control: allowLocal,
});
const page = getRequestListener(dashboard.fetch);

const server = createServer(async (request, response) => {
  if (request.url === "/metrics") return response.end(await register.metrics());
  if (request.url!.startsWith("/dashboard")) return page(request, response);
  const delivery = await json(request).catch(() => undefined);
  if (!isDelivery(delivery)) return response.writeHead(400).end();
  try {
    await queue.add(delivery); // on the disk
    response.writeHead(202).end();
  } catch (error) {
    console.error(`${keyOf(delivery)} is not accepted: ${error}`);
    response.writeHead(503).end();
  }
});
await once(server.listen(Number(process.env["PORT"] ?? 8080), "127.0.0.1"), "listening");
console.log(`listening on ${(server.address() as AddressInfo).port}`);

let isDraining = false;
process.on("SIGTERM", drain);
process.on("SIGINT", drain); // Ctrl-C

async function drain(): Promise<void> {
  if (isDraining) return; // a second signal
  isDraining = true;
  server.close();
  const timer = setTimeout(() => tooLong.abort(), GRACE); // unfinished deliveries go back to the queue
  await queue.shutDownWithDrain(); // takes no more deliveries and finishes the running ones
  clearTimeout(timer);
  console.log("drained");
  process.exit(); // ends open connections
}
