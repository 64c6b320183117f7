/**
 * A service that you can watch and adjust while it runs. The service includes everything that docs/operate.md
 * describes: metrics and snapshots over HTTP, the dashboard, a config file that is reloaded on edit, and a shutdown
 * that loses nothing. Items that are unfinished 25 s after SIGTERM are saved in `left.json`. The next start adds them
 * first.
 *
 *     npx -y deno task operate [TROUBLE [CONFIG]]
 */

import { loadConfigFile, watchConfigFile } from "@workqueue/config-file";
import { RetryAfterError } from "@workqueue/core";
import { allowLocal, createDashboard } from "@workqueue/dashboard";
import { prometheusMetrics } from "@workqueue/prometheus";
import { getRequestListener } from "@hono/node-server";
import { once } from "node:events";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import process from "node:process";
import { register } from "prom-client";
import { Backend, type Trouble } from "./backend.ts";
import { show } from "./show.ts";

const [trouble = "none", file = new URL("service.json", import.meta.url)] = process.argv.slice(2);
const backend = new Backend(trouble as Trouble);

const config = loadConfigFile(file, { metrics: prometheusMetrics() });
const left = new Set<string>();
const queue = config.queue<string>("orders", { onDrop: (order) => left.add(order) });
const throttle = config.bucket("backend");
/** Controller that is aborted when a drain takes too long. */
const tooLong = new AbortController();

const pool = config.runWorkers("orders", queue, async (order, { signal }) => {
  const { status, reason, retryAfter } = await backend.take(order, signal);
  if (status === 200) return;
  const message = `${status} ${reason}`;
  if (retryAfter === undefined) throw new Error(message);
  throttle.pauseFor(`${retryAfter}s`); // pauses the attempts of all orders
  throw new RetryAfterError(`${retryAfter}s`, message);
}, {
  signal: tooLong.signal, // otherwise, the pool would also process the saved items
  onError: () => {},
  onGiveUp: (error, order, _attempts, reason) => {
    if (reason === "shutdown") left.add(order); // the attempt failed after the drain ended
    else console.log(`gave up ${order}: ${error}`);
  },
});

watchConfigFile(file, config, {
  onReload: (changes) => {
    for (const { path, old, new: now, inForce } of changes) {
      const when = inForce === "now" ? "" : ", at the next start";
      console.log(`${path}: ${JSON.stringify(old)} → ${JSON.stringify(now)}${when}`);
    }
  },
});

const queues = { orders: { queue, pool } };
const dashboard = createDashboard({ queues, config, view: allowLocal, control: allowLocal });
const page = getRequestListener(dashboard.fetch);

const server = createServer(async (request, response) => {
  if (request.url!.startsWith("/dashboard")) return page(request, response);
  response.end(request.url === "/metrics" ? await register.metrics() : show(queue, pool, throttle));
});
const port = Number(process.env["PORT"] ?? 9464);
try {
  await once(server.listen(port, "127.0.0.1"), "listening"); // first: a service that can't listen must not take items
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException;
  const reason = code === "EADDRINUSE" ? "the port is in use. Set PORT to another port" : message;
  console.error(`Cannot listen on 127.0.0.1:${port}: ${reason}`);
  process.exit(1);
}

if (existsSync("left.json")) {
  for (const order of JSON.parse(readFileSync("left.json", "utf8"))) queue.add(order);
  rmSync("left.json");
}
const events = setInterval(() => {
  for (const order of backend.changes()) queue.add(order);
}, 100);

process.once("SIGTERM", async () => {
  clearInterval(events); // a draining queue ignores new items
  console.log("drains", queue);
  setTimeout(() => tooLong.abort(), 25_000);
  try {
    await queue.shutDownWithDrain({ delayed: "flush", signal: tooLong.signal });
    console.log("nothing is left");
  } catch {
    for (const { item } of queue.snapshot({ limit: queue.processing }).processingItems) {
      left.add(item);
      queue.done(item); // unblocks items of a group at `maxPerGroup`, and makes this item ready if it was added again
    }
    for (let lease; (lease = queue.tryGet()) !== undefined && !lease.shutdown;) {
      left.add(lease.item);
      queue.done(lease.item);
    }
    writeFileSync("left.json", JSON.stringify([...left]));
    console.log(`saved ${left.size} items in left.json`);
  }
  server.close();
  process.exit();
});
console.log(`process ${process.pid} is ready`);
