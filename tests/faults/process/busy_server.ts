/**
 * Script that answers requests from another process while handlers keep the CPU busy. The script ends when enough
 * requests have been answered or no work is left, and prints "enough" or the number of answers.
 */

import { type ChildProcess, spawn } from "node:child_process";
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
} from "../../../mod.ts";

/** Number of items, each of which takes one millisecond. */
const ITEMS = 3000;
const ENOUGH = 20;

let answered = 0;
const isEnough = () => answered >= ENOUGH;

function work(): Promise<void> {
  for (const end = performance.now() + 1; performance.now() < end;);
  return Promise.resolve();
}

async function runPool(items: number): Promise<void> {
  const queue = createRateLimitingQueue<number>(createExponentialLimiter({ baseDelay: 1, maxDelay: 1 }));
  for (let i = 0; i < items; i++) queue.add(i);
  queue.shutDown();
  const pool = runWorkers(queue, () => {
    if (isEnough()) pool.stop();
    return work();
  }, { concurrency: 10 });
  await pool.finished;
}

const cases: Record<string, () => Promise<unknown>> = {
  "a pool": () => runPool(ITEMS),
  "three pools": () => Promise.all([1, 2, 3].map(() => runPool(ITEMS / 3))),
  "parallelizeUntil": () => parallelizeUntil(10, ITEMS, () => isEnough() ? undefined : work()),
  async "a loop whose body adds again"() {
    const queue = createWorkQueue<number>();
    queue.add(0);
    let rounds = 0;
    for await (const item of queue) {
      await work();
      if (++rounds === ITEMS || isEnough()) break;
      queue.add(item);
    }
  },
};

async function serve(name: string): Promise<void> {
  const server = createServer((_request, response) => {
    answered++;
    response.end("here I am");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const first = new Promise((resolve) => server.once("request", resolve));
  const asker = startAsker((server.address() as AddressInfo).port);
  await first;
  answered = 0;
  await cases[name]!();
  console.log(isEnough() ? "enough" : answered);
  asker.kill();
  process.exit();
}

function startAsker(port: number): ChildProcess {
  const options = "Deno" in globalThis ? ["run", "-A"] : [];
  const args = [...options, fileURLToPath(import.meta.url), "ask", String(port)];
  return spawn(process.execPath, args, { stdio: "ignore" });
}

/** Sends one request after another until the server stops answering. */
async function ask(port: string): Promise<never> {
  while (true) await (await fetch(`http://127.0.0.1:${port}`)).text();
}

const [, , name, port] = process.argv;
await (name === "ask" ? ask(port!) : serve(name!));
