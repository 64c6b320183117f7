/**
 * A deploy that loses nothing: the orchestrator sends SIGTERM, and kills the process 30 s later. The service makes its
 * delayed items ready, works and retries for 25 s, and saves what is left by then. The next start begins with that.
 *
 * ```sh
 * npx -y deno run -A examples/recipes/deploy.ts
 * bun examples/recipes/deploy.ts
 * ```
 *
 * @module
 */

import { createExponentialLimiter, createRateLimitingQueue, runWorkers } from "@workqueue/core";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** How long the drain may take, in milliseconds. A service with 30 s until it is killed has 25,000 here. */
const GRACE = 300;

const folder = mkdtempSync(join(tmpdir(), "deploy-"));
/** Where what is left waits for the next start: a disk that outlives the process, a table, a topic. */
const FILE = join(folder, "left.json");

/** The whole life of one process. `deliver` is its work, `orders` are those that come, and SIGTERM comes after them. */
async function serve(deliver: (order: string) => void, orders: string[]): Promise<void> {
  const left = new Set<string>();
  const tooLong = new AbortController();
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: "50ms", maxDelay: "5m" }), {
    onDrop: (order) => left.add(order), // it is delayed, by a retry most often, when the drain is over
  });
  runWorkers(queue, (order) => deliver(order), {
    concurrency: 4,
    signal: tooLong.signal, // or the pool would go on with what was saved
    onError() {}, // here goes the log
    onGiveUp(_error, order, _attempts, reason) {
      if (reason === "shutdown") left.add(order); // it failed after the drain was over
    },
  });
  if (existsSync(FILE)) {
    for (const order of JSON.parse(readFileSync(FILE, "utf8"))) queue.add(order);
    rmSync(FILE);
  }
  for (const order of orders) queue.addAfter(order, "10m");

  // From here on it is what a service does at SIGTERM. First it stops what adds, which has ended here: a queue that
  // drains ignores adds, without a call of `onDrop`. A server answers 503 while `queue.shuttingDown`.
  const timer = setTimeout(() => tooLong.abort(), GRACE);
  try {
    await queue.shutDownWithDrain({ delayed: "flush", signal: tooLong.signal });
  } catch {
    const { readyItems, processingItems } = queue.snapshot({ limit: queue.length + queue.processing });
    for (const { item } of [...readyItems, ...processingItems]) left.add(item);
    writeFileSync(FILE, JSON.stringify([...left]));
    console.log(`saved for the next start: ${[...left].sort().join(", ")}`);
  }
  clearTimeout(timer);
}

const orders = ["order 1", "order 2", "order 3", "order 4"];
const failedOnce = new Set<string>();
await serve((order) => {
  if (order === "order 3") throw new Error("503"); // for as long as this process lives
  if (!failedOnce.has(order)) {
    failedOnce.add(order);
    throw new Error("503");
  }
  console.log(`delivered ${order}`);
}, orders);

console.log("the next process starts");
await serve((order) => console.log(`delivered ${order}`), []);
rmSync(folder, { recursive: true });
