/** Script in which items fail with very long error messages. Prints the growth of the heap, and how many failed. */

import { createExponentialLimiter, createRateLimitingQueue, runWorkers } from "../../../mod.ts";
import { growthSince, heapUsed } from "./collect.ts";

const LENGTH = 1_000_000;

/** Returns a message that a server might have sent. */
function message(item: number): string {
  return new TextDecoder().decode(new Uint8Array(LENGTH).fill(97 + item % 26));
}

const queue = createRateLimitingQueue<number>(createExponentialLimiter({ baseDelay: 3_600_000, maxDelay: 3_600_000 }));
const pool = runWorkers(queue, (item) => {
  throw new Error(item % 2 === 0 ? message(item) : message(item).slice(0, 200));
}, { onError: () => {} });
const before = await heapUsed();
for (let item = 0; item < 50; item++) queue.add(item);
while (queue.delayed < 50) await new Promise((resolve) => setTimeout(resolve, 10));
console.log(await growthSince(before));
console.log(pool.snapshot().failingItems.length);
queue.shutDown();
await pool.stop();
