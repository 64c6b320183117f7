/**
 * Prints how long another process waits for an answer, in milliseconds, while many small units of work keep the CPU
 * busy. Each unit takes one millisecond. Also prints the percentage of the elapsed time that is spent on this work.
 *
 *     deno run -A --config deno.all.json bench/peers/latency.ts [keep-alive | fresh]
 *
 * @module
 */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { fileURLToPath } from "node:url";
import {
  createExponentialLimiter,
  createRateLimitingQueue,
  createWorkQueue,
  parallelizeUntil,
  runWorkers,
} from "@workqueue/core";

const ITEMS = 2000;
const WORK_MS = 1;

let worked = 0;

function work(): Promise<void> {
  const began = performance.now();
  let now = began;
  while (now - began < WORK_MS) now = performance.now();
  worked += now - began;
  return Promise.resolve();
}

async function runPool(items: number): Promise<void> {
  const queue = createRateLimitingQueue<number>(createExponentialLimiter({ baseDelay: 5, maxDelay: 1_000_000 }));
  for (let i = 0; i < items; i++) queue.add(i);
  const pool = runWorkers(queue, work, { concurrency: 10 });
  queue.shutDown();
  await pool.finished;
}

async function loopOverQueue(): Promise<void> {
  const queue = createWorkQueue<string>();
  queue.add("again");
  let rounds = 0;
  for await (const item of queue) {
    await work();
    if (++rounds === ITEMS) return;
    queue.add(item);
  }
}

const cases: Record<string, () => Promise<unknown>> = {
  "one pool": () => runPool(ITEMS),
  "three pools": () => Promise.all([1, 2, 3].map(() => runPool(ITEMS / 3 | 0))),
  "`parallelizeUntil`": () => parallelizeUntil(10, ITEMS, work),
  "a loop over a queue": loopOverQueue,
};

/** Figures, by name. */
type Figures = Readonly<Record<string, number>>;

/**
 * Runs the work while another process sends requests. Returns the waiting times, and the percentage of the elapsed time
 * that was spent on the work.
 */
async function measure(
  run: () => Promise<unknown>,
  port: number,
  connection: string,
): Promise<Figures> {
  const asker = startAsker(port, connection);
  let printed = "";
  asker.stdout!.on("data", (chunk) => printed += chunk);
  await Promise.race([
    once(asker.stdout!, "data"),
    once(asker, "close").then(() => Promise.reject(new Error("The process that sends requests has ended"))),
  ]);
  worked = 0;
  const began = performance.now();
  await run();
  const busy = 100 * worked / (performance.now() - began);
  asker.stdin!.end();
  await once(asker, "close");
  return { ...JSON.parse(printed.split("\n")[1]!), "% of the time for the work": busy };
}

function startAsker(port: number, connection: string): ChildProcess {
  const options = "Deno" in globalThis ? ["run", "-A", "--no-check", "--no-config"] : [];
  const args = [...options, fileURLToPath(new URL("asker.ts", import.meta.url)), connection, String(port)];
  return spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
}

const [, , connection = "keep-alive"] = process.argv;
const server = createServer((_request, response) => response.end("here I am")).listen(0, "127.0.0.1");
await once(server, "listening");
const results: Record<string, number> = {};
for (const [name, run] of Object.entries(cases)) {
  const figures = await measure(run, (server.address() as AddressInfo).port, connection);
  for (const [figure, value] of Object.entries(figures)) results[`${name}: ${figure}`] = value;
}
console.log(JSON.stringify(results));
process.exit();
