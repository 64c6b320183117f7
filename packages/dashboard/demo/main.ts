/**
 * Demo of the dashboard with four queues. The backend of the first queue is down every other minute. A tenant floods
 * the second queue. One item in the third queue always fails. The fourth queue is healthy.
 *
 *     npx -y deno task demo:dashboard [PORT]
 *
 * @module
 */

import { readConfigFile } from "@workqueue/config-file";
import { loadConfig, type RateLimitingQueue, type WorkerPool } from "@workqueue/core";
import { allowLocal, createDashboard } from "@workqueue/dashboard";
import { createAdaptorServer } from "@hono/node-server";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { invoices, mails, payments, thumbnails, type Work } from "./shop.ts";

const readConfig = () => readConfigFile(new URL("demo.yaml", import.meta.url));
const config = loadConfig(readConfig());
const works: Record<string, Work> = {
  payments: payments(),
  thumbnails: thumbnails(),
  invoices: invoices(),
  mails: mails(),
};

const queues: Record<string, { queue: RateLimitingQueue<string>; pool: WorkerPool<string> }> = {};
for (const [name, { handle }] of Object.entries(works)) {
  const queue = config.queue<string>(name);
  const pool = config.runWorkers(name, queue, (item, { signal }) => handle(item, signal), { onError() {} });
  queues[name] = { queue, pool };
}
setInterval(() => {
  for (const [name, { changes }] of Object.entries(works)) for (const item of changes()) queues[name]!.queue.add(item);
}, 100);

const control = (request: Request) => allowLocal(request) && "someone at this machine";
const dashboard = createDashboard({ queues, config, readConfig, view: allowLocal, control });
const hostname = "127.0.0.1";
const port = Number(process.argv[2] ?? process.env["PORT"] ?? 4680);
const server = createAdaptorServer({ fetch: dashboard.fetch });
try {
  await once(server.listen(port, hostname), "listening");
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException;
  const reason = code === "EADDRINUSE"
    ? "the port is in use. Pass another port, or 0 for any free port: npx -y deno task demo:dashboard 0"
    : message;
  console.error(`Cannot listen on ${hostname}:${port}: ${reason}`);
  process.exit(1);
}
const { port: open } = server.address() as AddressInfo;
console.log(`http://${hostname}:${open}/ shows four queues: find out what is wrong with three of them`);
