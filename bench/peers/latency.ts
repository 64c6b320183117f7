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
import { Agent, createServer, get } from "node:http";
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
import { percentileOf } from "../statistics.ts";

const ITEMS = 2000;
const WORK_MS = 1;
const MS_BETWEEN_REQUESTS = 20;

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
  await once(asker.stdout!, "data");
  worked = 0;
  const began = performance.now();
  await run();
  const busy = 100 * worked / (performance.now() - began);
  asker.stdin!.end();
  await once(asker, "close");
  return { ...JSON.parse(printed.split("\n")[1]!), "% of the time for the work": busy };
}

function startAsker(port: number, connection: string): ChildProcess {
  const options = "Deno" in globalThis ? ["run", "-A", "--no-check"] : process.execArgv;
  const args = [...options, fileURLToPath(import.meta.url), "ask", connection, String(port)];
  return spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
}

/** Sends a request about every 20 ms until its standard input ends, without waiting for earlier answers. */
async function ask(connection: string, port: number): Promise<void> {
  const agent = new Agent({ keepAlive: connection === "keep-alive", maxSockets: Infinity });
  const waits: number[] = [];
  const request = () =>
    new Promise<void>((resolve, reject) => {
      const began = performance.now();
      get({ host: "127.0.0.1", port, agent }, (response) => {
        response.resume().on("end", () => {
          waits.push(performance.now() - began);
          resolve();
        });
      }).on("error", reject);
    });
  for (let i = 0; i < 10; i++) await request(); // warms up
  waits.length = 0;
  console.log("ready");
  let isOver = false;
  process.stdin.on("end", () => isOver = true).resume();
  const open: Promise<void>[] = [];
  while (!isOver) {
    open.push(request());
    await new Promise((resolve) => setTimeout(resolve, MS_BETWEEN_REQUESTS * (0.5 + Math.random())));
  }
  await Promise.all(open);
  const [median, p99, worst] = [50, 99, 100].map((percent) => percentileOf(waits, percent));
  console.log(JSON.stringify({ median, "99th percentile": p99, worst }));
  process.exit();
}

async function serve(connection: string): Promise<void> {
  const server = createServer((_request, response) => response.end("here I am")).listen(0, "127.0.0.1");
  await once(server, "listening");
  const results: Record<string, number> = {};
  for (const [name, run] of Object.entries(cases)) {
    const figures = await measure(run, (server.address() as AddressInfo).port, connection);
    for (const [figure, value] of Object.entries(figures)) results[`${name}: ${figure}`] = value;
  }
  console.log(JSON.stringify(results));
  process.exit();
}

const [, , mode = "keep-alive", connection, port] = process.argv;
await (mode === "ask" ? ask(connection!, Number(port)) : serve(mode));
