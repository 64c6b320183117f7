/**
 * A deploy that loses nothing. The orchestrator sends SIGTERM, and kills the process 30 s later. The service makes its
 * delayed items ready, continues to process and retry items for 25 s, and saves the remaining items. The next process
 * adds them first.
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

/** Maximum duration of a drain, in milliseconds. Use 25,000 for a service that is killed 30 s after SIGTERM. */
const GRACE = 300;

const folder = mkdtempSync(join(tmpdir(), "deploy-"));
/** Storage for the remaining items. Use a database table, a message topic, or a disk that outlives the process. */
const FILE = join(folder, "left.json");

/**
 * Simulates one process from start to end. `deliver` processes one order; `orders` contains the new orders. SIGTERM
 * arrives after all new orders have been added.
 */
async function serve(deliver: (order: string) => void, orders: string[]): Promise<void> {
  const left = new Set<string>();
  const tooLong = new AbortController();
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: "50ms", maxDelay: "5m" }), {
    onDrop: (order) => left.add(order), // order that is still delayed when the drain ends, usually a retry
  });
  runWorkers(queue, (order) => deliver(order), {
    concurrency: 4,
    signal: tooLong.signal, // otherwise, the pool would also process the saved items
    onError() {}, // log errors here
    onGiveUp(_error, order, _attempts, reason) {
      if (reason === "shutdown") left.add(order); // the attempt failed after the drain ended
    },
  });
  if (existsSync(FILE)) {
    for (const order of JSON.parse(readFileSync(FILE, "utf8"))) queue.add(order);
    rmSync(FILE);
  }
  for (const order of orders) queue.addAfter(order, "10m");

  // A real service runs the following code on SIGTERM. First, the service stops adding items, because a queue that is
  // draining ignores added items and doesn't call `onDrop` for them. A server responds with 503 while
  // `queue.shuttingDown` is true.
  const timer = setTimeout(() => tooLong.abort(), GRACE);
  try {
    await queue.shutDownWithDrain({ delayed: "flush", signal: tooLong.signal });
  } catch {
    for (const { item } of queue.snapshot({ limit: queue.processing }).processingItems) {
      left.add(item);
      queue.done(item); // unblocks items of a group at `maxPerGroup`, and makes this item ready if it was added again
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
  if (order === "order 3") throw new Error("503"); // always fails in this process
  if (!failedOnce.has(order)) {
    failedOnce.add(order);
    throw new Error("503");
  }
  console.log(`delivered ${order}`);
}, orders);

console.log("the next process starts");
await serve((order) => console.log(`delivered ${order}`), []);
rmSync(folder, { recursive: true });
