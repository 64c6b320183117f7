/** Worker process that runs until SIGTERM. The process records the start and end of each handler on another server. */

import { createClient } from "@redis/client";
import { runWorkers } from "@workqueue/core";
import { createRedisQueue } from "@workqueue/redis";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { RedisEngine } from "../../../../packages/redis/engine.ts";
import { recordQueue } from "../../history/folder.ts";
import type { WorkerArguments } from "./workers.ts";

const { url, witness, name, history, leaseDuration, maxStalls, concurrency, ms, failsOnce, poison } = JSON
  .parse(process.argv[2]!) as WorkerArguments;

const notes = createClient({ url: witness });
await notes.connect();
const note = (...words: unknown[]) => notes.rPush("notes", words.join(" "));

if (history !== undefined) recordQueue(RedisEngine.prototype, name, history);
const queue = createRedisQueue({
  name,
  url,
  leaseDuration,
  maxStalls,
  limiter: { type: "exponential", baseDelay: 5, maxDelay: 50 },
  onQueueError: (error) => note("error", process.pid, String(error)),
});

const pool = runWorkers(queue, async (item, { attempt, token }) => {
  await note("begin", process.pid, token, attempt, item);
  if (item === poison) {
    await delay(50); // other handlers can start meanwhile
    process.kill(process.pid, "SIGKILL");
  }
  await delay(Math.random() * 2 * ms);
  await note("end", process.pid, token, attempt, item);
  if (failsOnce && attempt === 1) throw "not yet"; // a string, because creating an error would take too long
}, { concurrency, onError: (error) => error !== "not yet" && note("error", process.pid, String(error)) });

process.on("SIGTERM", async () => {
  await queue.shutDownWithDrain();
  await pool.finished;
  await notes.close(); // from here on, nothing keeps the process alive
});
console.log("ready");
