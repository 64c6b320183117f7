/**
 * A periodic resync. Each feed is fetched once per period, and immediately when a message reports that the feed has
 * changed. At most one future run is scheduled per feed, regardless of how often the feed is added.
 *
 * ```sh
 * npx -y deno run examples/recipes/resync.ts
 * bun examples/recipes/resync.ts
 * ```
 *
 * @module
 */

import { createExponentialLimiter, createRateLimitingQueue, runWorkers } from "@workqueue/core";

/** Period of the resync, in milliseconds. */
const PERIOD = 50;

const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: "5ms", maxDelay: "1s" }));
const syncs = new Map<string, number>();

const pool = runWorkers(queue, (feed, { attempt }) => {
  const count = (syncs.get(feed) ?? 0) + 1;
  // The work goes here. If the work fails, the limiter sets the delay of the retry. The next period begins after a
  // success.
  if (feed === "weather" && count === 2 && attempt === 1) throw new Error("no answer");
  syncs.set(feed, count);
  console.log(`${feed}: sync ${count}, attempt ${attempt}`);

  if ([...syncs.values()].every((count) => count >= 3)) queue.shutDown(); // ends the demo
  return { requeueAfter: PERIOD * (0.9 + Math.random() * 0.2) }; // spreads the runs of feeds that were added together
}, { concurrency: 2, onError: (error, feed) => console.log(`${feed}: ${error}`) });

for (const feed of ["news", "weather"]) queue.add(feed);
setTimeout(() => queue.add("news"), PERIOD / 2); // simulates a message saying that the feed has changed
await pool.finished;
