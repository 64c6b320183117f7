/**
 * Two services store 600 orders while three processes flush the outbox, and the one that does is killed. Every order is
 * delivered. Requires a Redis server at `WORKQUEUE_REDIS_URL`, by default on this machine.
 *
 * ```sh
 * npx -y deno run -A examples/outbox/main.ts
 * bun examples/outbox/main.ts
 * ```
 *
 * @module
 */

import { runWorkers } from "@workqueue/core";
import { createRedisQueue } from "@workqueue/redis";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { open } from "./outbox.ts";

const RUN = "Deno" in globalThis ? ["run", "-A"] : [];
const folder = mkdtempSync(join(tmpdir(), "outbox-"));
const path = join(folder, "shop.db");
open(path).close();

function start(script: string, ...args: string[]): ChildProcess {
  const file = fileURLToPath(new URL(script, import.meta.url));
  return spawn(process.execPath, [...RUN, file, path, ...args], { stdio: ["ignore", "pipe", "inherit"] });
}

/** Resolves when a process becomes the one that flushes. */
async function owner(child: ChildProcess): Promise<ChildProcess> {
  for await (const line of createInterface(child.stdout!)) if (line === "flushes") return child;
  throw new Error("The process has ended");
}

const delivered = new Map<string, number>();
await using queue = createRedisQueue({ name: "orders", url: process.env["WORKQUEUE_REDIS_URL"] });
runWorkers(queue, (order) => {
  delivered.set(order, (delivered.get(order) ?? 0) + 1); // the work goes here: it may run twice after a crash
}, { concurrency: 8 });

const flushers = [start("flush.ts"), start("flush.ts"), start("flush.ts")];
const services = [start("orders.ts", "300", "web"), start("orders.ts", "300", "app")];
const stored = services.map((service) => once(service, "exit"));
const owners = flushers.map(owner);
const first = await Promise.race(owners);
while (delivered.size === 0) await queue.whenIdle();
first.kill("SIGKILL");
console.log("the first owner was killed");
const left = flushers.filter((flusher) => flusher !== first);
await Promise.race(owners.filter((_, i) => flushers[i] !== first));
console.log("another process flushes");

await Promise.all(stored);
const database = open(path);
const rows = () => Number(database.prepare("SELECT count(*) AS count FROM outbox").get()!["count"]);
while (rows() > 0) await new Promise((resolve) => setTimeout(resolve, 50));
await queue.whenIdle();
const twice = [...delivered.values()].filter((count) => count > 1).length;
console.log(`${delivered.size} orders delivered, ${twice <= 100 ? "at most one batch" : twice} twice`);
for (const flusher of left) flusher.kill("SIGKILL");
database.close();
rmSync(folder, { recursive: true, force: true });
