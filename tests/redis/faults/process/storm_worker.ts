/**
 * Process that works on several queues until SIGTERM, and records their histories. SIGUSR2 sets its wall clock ahead or
 * back. Its argument is JSON: {@linkcode StormArguments}.
 */

import { realNow, stepClock } from "./stepping_date.ts";
import { type DisciplineConfig, runWorkers } from "@workqueue/core";
import { createRedisQueue, RedisConnectionError } from "@workqueue/redis";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { namesOf } from "../../../../packages/redis/division.ts";
import { RedisEngine } from "../../../../packages/redis/engine.ts";
import { recordQueue } from "../../history/folder.ts";
import type { At } from "./sites.ts";

/** Queue of a storm. */
export interface StormQueue {
  readonly name: string;
  readonly partitions: number;
  /** Folders of the histories of the partitions. */
  readonly histories: readonly string[];
  readonly discipline: DisciplineConfig;
}

/** Arguments of the script. */
export interface StormArguments {
  readonly at: At;
  /** Duration of a lease, in milliseconds. */
  readonly leaseDuration: number;
  readonly queues: readonly StormQueue[];
}

const { at, leaseDuration, queues } = JSON.parse(process.argv[2]!) as StormArguments;
const AN_HOUR = 3_600_000;

process.on("SIGUSR2", () => stepClock((Math.random() - 0.5) * AN_HOUR));

const opened = queues.map(({ name, partitions, histories, discipline }) => {
  const names = namesOf(name, { count: partitions });
  for (const [i, name] of names.entries()) recordQueue(RedisEngine.prototype, name, histories[i]!, realNow);
  const queue = createRedisQueue({
    name,
    ...at,
    leaseDuration,
    discipline,
    partitions,
    callTimeout: "1m",
    maxStalls: 1_000_000,
    limiter: { type: "exponential", baseDelay: 5, maxDelay: 50 },
    onQueueError: (error) => error instanceof RedisConnectionError || console.error(String(error)),
  });
  const pool = runWorkers(queue, async () => {
    const luck = Math.random();
    await delay(luck < 0.002 ? 2 * leaseDuration : 20 * Math.random());
    if (luck > 0.97) throw new Error("not yet");
  }, { concurrency: 10, onError() {} });
  return { queue, pool };
});

process.on("SIGTERM", async () => {
  await Promise.all(opened.map(({ queue }) => queue.shutDownWithDrain()));
  await Promise.all(opened.map(({ pool }) => pool.finished));
});
console.log("ready");
