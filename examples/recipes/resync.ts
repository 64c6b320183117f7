/**
 * A periodic resync: fetches each feed once per period, and at once when a message says that the feed has changed. A
 * feed has at most one next run, however often it is added in between.
 *
 * ```sh
 * npx -y deno run examples/recipes/resync.ts
 * bun examples/recipes/resync.ts
 * ```
 *
 * @module
 */

import { createExponentialLimiter, createRateLimitingQueue, runWorkers } from "@workqueue/core";

/** In milliseconds. */
const PERIOD = 50;

const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: "5ms", maxDelay: "1s" }));
const syncs = new Map<string, number>();

const pool = runWorkers(queue, (feed, { attempt }) => {
  const count = (syncs.get(feed) ?? 0) + 1;
  // The work goes here. If it fails, the limiter sets the delay of the retry, and the period begins after the success.
  if (feed === "weather" && count === 2 && attempt === 1) throw new Error("no answer");
  syncs.set(feed, count);
  console.log(`${feed}: sync ${count}, attempt ${attempt}`);

  if ([...syncs.values()].every((count) => count >= 3)) queue.shutDown(); // ends the demo
  return { requeueAfter: PERIOD * (0.9 + Math.random() * 0.2) }; // spreads feeds that began together
}, { concurrency: 2, onError: (error, feed) => console.log(`${feed}: ${error}`) });

for (const feed of ["news", "weather"]) queue.add(feed);
setTimeout(() => queue.add("news"), PERIOD / 2); // simulates a message that the feed has changed
await pool.finished;
