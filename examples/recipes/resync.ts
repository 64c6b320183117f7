/**
 * A periodic resync: each feed is fetched every so often, and at once when something says that it changed.
 * There is at most one next time for a feed, however often it is asked for in between.
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
  // Here goes the work. If it fails, the limiter says when to try again, and the period begins after success.
  if (feed === "weather" && count === 2 && attempt === 1) throw new Error("no answer");
  syncs.set(feed, count);
  console.log(`${feed}: sync ${count}, attempt ${attempt}`);

  if ([...syncs.values()].every((count) => count >= 3)) queue.shutDown(); // enough for show
  return { requeueAfter: PERIOD * (0.9 + Math.random() * 0.2) }; // feeds that began together drift apart
}, { concurrency: 2, onError: (error, feed) => console.log(`${feed}: ${error}`) });

for (const feed of ["news", "weather"]) queue.add(feed);
setTimeout(() => queue.add("news"), PERIOD / 2); // for show: a message that there is news
await pool.finished;
