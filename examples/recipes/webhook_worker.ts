/**
 * Works on what webhooks tell of: one of many such processes. `webhook_deploy.ts` shows it.
 *
 * @module
 */

import { runWorkers } from "@workqueue/core";
import { createRedisQueue } from "@workqueue/redis";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";

/** How long handlers have after SIGTERM: less than the orchestrator waits until it kills, which is mostly 30 s. */
const GRACE = 20_000;

const queue = createRedisQueue({
  name: "mirrors",
  url: process.env["WORKQUEUE_REDIS_URL"],
  limiter: {
    type: "jitter",
    spread: 0.5,
    limiter: { type: "exponential", baseDelay: "1s", maxDelay: "5m" },
  },
});

const tooLong = new AbortController();
runWorkers(queue, async (repository, { signal }) => {
  console.log(`mirrors ${repository}`);
  await delay(300, undefined, { signal }); // here goes the work: fetch it as it is now, whatever the events were
  console.log(`mirrored ${repository}`);
}, { concurrency: 4, maxRetries: 10, signal: tooLong.signal });

process.once("SIGTERM", async () => {
  const timer = setTimeout(() => tooLong.abort(), GRACE); // what is aborted goes back to the queue, for the others
  await queue.shutDownWithDrain(); // takes nothing more, and ends what it has
  clearTimeout(timer);
  console.log("drained");
});
