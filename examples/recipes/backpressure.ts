/**
 * Back-pressure: reads records no faster than they are processed. The queue never contains more than a few records. The
 * program ends when all records are done, including retries.
 *
 * ```sh
 * npx -y deno run examples/recipes/backpressure.ts
 * bun examples/recipes/backpressure.ts
 * ```
 *
 * @module
 */

import { createExponentialLimiter, createRateLimitingQueue, runWorkers } from "@workqueue/core";

/** Reading pauses when the queue contains this many items. */
const LIMIT = 10;

const queue = createRateLimitingQueue<number>(createExponentialLimiter({ baseDelay: "20ms", maxDelay: "1s" }));
let done = 0;

runWorkers(queue, async (record, { attempt }) => {
  await sleep(1); // the work goes here
  if (record === 200 && attempt === 1) throw new Error("a hiccup");
  done++;
}, { concurrency: 4, maxRetries: 5, onError: (error, record) => console.log(`record ${record}: ${error}`) });

let most = 0;
for await (const record of readRecords()) {
  await queue.whenBelow(LIMIT);
  queue.add(record);
  most = Math.max(most, queue.length + queue.delayed);
}

await queue.whenIdle();
console.log(`${done} records, at most ${most} in the queue`);

/** Simulates a file, a table or a topic. */
async function* readRecords(): AsyncGenerator<number> {
  for (let record = 1; record <= 200; record++) yield record;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
