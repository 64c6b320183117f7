/**
 * Processes the repositories named in the webhooks. Several workers run at the same time. `webhook_deploy.ts` runs this
 * program.
 *
 * @module
 */

import { runWorkers } from "@workqueue/core";
import { createRedisQueue } from "@workqueue/redis";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";

/**
 * Time allowed for handlers to finish after SIGTERM, in milliseconds. Must be less than the time until the orchestrator
 * kills the process, usually 30 s.
 */
const GRACE = 20_000;

const queue = createRedisQueue({
  name: "mirrors",
  url: process.env["WORKQUEUE_REDIS_URL"],
  limiter: {
    type: "ignore-early", // events during a backoff don't make it longer
    limiter: {
      type: "jitter",
      spread: 0.5,
      limiter: { type: "exponential", baseDelay: "1s", maxDelay: "5m" },
    },
  },
});

const tooLong = new AbortController();
runWorkers(queue, async (repository, { signal }) => {
  console.log(`mirrors ${repository}`);
  await delay(300, undefined, { signal }); // the work goes here: fetch the current state, ignore the events
  console.log(`mirrored ${repository}`);
}, { concurrency: 4, maxRetries: 10, signal: tooLong.signal });

process.once("SIGTERM", async () => {
  const timer = setTimeout(() => tooLong.abort(), GRACE); // unfinished items go back to the queue for other workers
  await queue.shutDownWithDrain(); // takes no more items and finishes the running items
  clearTimeout(timer);
  console.log("drained");
});
console.log("ready");
