/**
 * A deploy that loses nothing. The orchestrator sends SIGTERM, and kills the process 30 s later. The service makes its
 * delayed items ready, continues work and retries for 25 s, and saves the remaining items. The next start adds them
 * first.
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

/** Longest drain, in milliseconds. A service that is killed after 30 s uses 25,000. */
const GRACE = 300;

const folder = mkdtempSync(join(tmpdir(), "deploy-"));
/** Storage for the remaining items: a disk that outlives the process, a table or a topic. */
const FILE = join(folder, "left.json");

/**
 * Runs one process from start to end. `deliver` is its work and `orders` are its new orders. SIGTERM comes after them.
 */
async function serve(deliver: (order: string) => void, orders: string[]): Promise<void> {
  const left = new Set<string>();
  const tooLong = new AbortController();
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: "50ms", maxDelay: "5m" }), {
    onDrop: (order) => left.add(order), // still delayed, usually by a retry, when the drain ends
  });
  runWorkers(queue, (order) => deliver(order), {
    concurrency: 4,
    signal: tooLong.signal, // otherwise the pool would go on with saved items
    onError() {}, // log errors here
    onGiveUp(_error, order, _attempts, reason) {
      if (reason === "shutdown") left.add(order); // failed after the drain ended
    },
  });
  if (existsSync(FILE)) {
    for (const order of JSON.parse(readFileSync(FILE, "utf8"))) queue.add(order);
    rmSync(FILE);
  }
  for (const order of orders) queue.addAfter(order, "10m");

  // A service does the rest at SIGTERM. It first stops adding items, because a queue that drains ignores adds without a
  // call of `onDrop`. A server answers 503 while `queue.shuttingDown`.
  const timer = setTimeout(() => tooLong.abort(), GRACE);
  try {
    await queue.shutDownWithDrain({ delayed: "flush", signal: tooLong.signal });
  } catch {
    for (const { item } of queue.snapshot({ limit: queue.processing }).processingItems) {
      left.add(item);
      queue.done(item); // makes items ready that `maxPerGroup` blocked, or that were added again
    }
    for (let lease; (lease = queue.tryGet()) !== undefined && !lease.shutdown;) {
      left.add(lease.item);
      queue.done(lease.item);
    }
    writeFileSync(FILE, JSON.stringify([...left]));
    console.log(`saved for the next start: ${[...left].sort().join(", ")}`);
  }
  clearTimeout(timer);
}

const orders = ["order 1", "order 2", "order 3", "order 4"];
const failedOnce = new Set<string>();
await serve((order) => {
  if (order === "order 3") throw new Error("503"); // fails for as long as this process runs
  if (!failedOnce.has(order)) {
    failedOnce.add(order);
    throw new Error("503");
  }
  console.log(`delivered ${order}`);
}, orders);

console.log("the next process starts");
await serve((order) => console.log(`delivered ${order}`), []);
rmSync(folder, { recursive: true });
