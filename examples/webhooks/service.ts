/**
 * A service that delivers webhooks from memory. Tenants take turns, and failures are retried. Deliveries that are given
 * up, or that a deploy leaves unfinished, are saved. A crash loses the deliveries in memory: `durable.ts` keeps them in
 * a file. docs/webhooks.md explains both.
 *
 * ```sh
 * npx -y deno run -A --config deno.all.json examples/webhooks/service.ts
 * bun examples/webhooks/service.ts
 * ```
 *
 * @module
 */

import { type HandlerContext, RetryAfterError } from "@workqueue/core";
import { loadConfigFile, watchConfigFile } from "@workqueue/config-file";
import { allowLocal, createDashboard } from "@workqueue/dashboard";
import { prometheusMetrics } from "@workqueue/prometheus";
import { getRequestListener } from "@hono/node-server";
import { once } from "node:events";
import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { json } from "node:stream/consumers";
import { register } from "prom-client";
import { deliver, type Delivery, isDelivery, keyOf } from "./deliver.ts";

const [configFile = new URL("service.json", import.meta.url)] = process.argv.slice(2);
const GIVEN_UP = "given-up.jsonl";
const LEFT = "left.json";
/**
 * Maximum duration of a drain, in milliseconds. Must be shorter than the time until the orchestrator kills the process;
 * the default is five seconds shorter than the usual 30 s.
 */
const GRACE = Number(process.env["GRACE"] ?? 25_000);

const left = new Map<string, Delivery>();
/** Tenants whose deliveries were paused. */
const paused = new Set<string>();
const tooLong = new AbortController();

const config = loadConfigFile(configFile, { metrics: prometheusMetrics(register) });
const queue = config.queue<Delivery>("deliveries", {
  keyOf,
  onDrop: (delivery) => left.set(keyOf(delivery), delivery),
});
const pool = config.runWorkers("deliveries", queue, handle, {
  signal: tooLong.signal,
  onError: (error, delivery, attempt) => console.warn(`${keyOf(delivery)}: attempt ${attempt} failed: ${error}`),
  onGiveUp: (error, delivery, attempts, reason) => {
    if (reason === "shutdown") left.set(keyOf(delivery), delivery);
    else appendFileSync(GIVEN_UP, JSON.stringify({ delivery, attempts, reason, error: String(error) }) + "\n");
  },
});
watchConfigFile(configFile, config);

const dashboard = createDashboard({ queues: { deliveries: { queue, pool } }, config, view: allowLocal });
const page = getRequestListener(dashboard.fetch);

const server = createServer(async (request, response) => {
  if (request.url === "/metrics") return response.end(await register.metrics());
  if (request.url!.startsWith("/dashboard")) return page(request, response);
  const delivery = await json(request).catch(() => undefined);
  if (!isDelivery(delivery)) return response.writeHead(400).end();
  if (queue.shuttingDown) return response.writeHead(503).end(); // a draining queue would ignore the delivery
  queue.add(delivery);
  response.writeHead(202).end();
});
const port = Number(process.env["PORT"] ?? 8080);
try {
  await once(server.listen(port, "127.0.0.1"), "listening"); // first: a service that can't listen must not take items
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException;
  const reason = code === "EADDRINUSE" ? "the port is in use. Set PORT to another port" : message;
  console.error(`Cannot listen on 127.0.0.1:${port}: ${reason}`);
  process.exit(1);
}
console.log(`listening on ${(server.address() as AddressInfo).port}`);

if (existsSync(LEFT)) {
  for (const delivery of JSON.parse(readFileSync(LEFT, "utf8")) as Delivery[]) queue.add(delivery);
  rmSync(LEFT);
}

async function handle(delivery: Delivery, context: HandlerContext): Promise<void> {
  try {
    await deliver(delivery, context);
  } catch (error) {
    if (error instanceof RetryAfterError) paused.add(delivery.tenant);
    throw error;
  }
}

let isDraining = false;
process.on("SIGTERM", drain);
process.on("SIGINT", drain); // Ctrl-C

async function drain(): Promise<void> {
  if (isDraining) return; // a second signal
  isDraining = true;
  const timer = setTimeout(() => tooLong.abort(), GRACE);
  try {
    await queue.shutDownWithDrain({ delayed: "flush", signal: tooLong.signal });
  } catch {
    for (const { item } of queue.snapshot({ limit: queue.processing }).processingItems) {
      left.set(keyOf(item), item);
      queue.done(item); // makes the tenant's blocked deliveries ready
    }
    for (const tenant of paused) queue.resumeGroup(tenant); // makes their blocked deliveries ready as well
    for (let lease; (lease = queue.tryGet()) !== undefined && !lease.shutdown;) {
      left.set(keyOf(lease.item), lease.item);
      queue.done(lease.item);
    }
  }
  clearTimeout(timer);
  if (left.size > 0) writeFileSync(LEFT, JSON.stringify([...left.values()]));
  console.log(`drained, ${left.size} left`);
  process.exit(); // ends the process even if a handler ignores its signal
}
