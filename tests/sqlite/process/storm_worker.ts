/**
 * Process that adds to several queues in a file until it is told to stop, and works on them until SIGTERM. It records
 * their histories. Its argument is JSON: {@linkcode StormArguments}.
 */

import { type DisciplineConfig, runWorkers } from "@workqueue/core";
import { createSqliteQueue, type SqliteQueue } from "@workqueue/sqlite";
import { appendFileSync, existsSync } from "node:fs";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { SqliteEngine } from "../../../packages/sqlite/engine.ts";
import { recordQueue } from "../../redis/history/folder.ts";
import { recordThreads } from "./record_threads.ts";

/** Queue of a storm. */
export interface StormQueue {
  readonly name: string;
  /** Folder of the history. */
  readonly history: string;
  readonly discipline: DisciplineConfig;
}

/** Arguments of the script. */
export interface StormArguments {
  readonly path: string;
  readonly queues: readonly StormQueue[];
  /** Whether the database is in a thread. */
  readonly thread: boolean;
  /** Duration of a lease, in milliseconds. */
  readonly leaseDuration: number;
  /** File at whose creation the process stops adding keys. */
  readonly over: string;
  /** File of the errors that must not be. */
  readonly errors: string;
}

const { path, queues, thread, leaseDuration, over, errors } = JSON.parse(process.argv[2]!) as StormArguments;
const GROUPS = 12;
/** Number of ready keys at which the process adds no more. */
const ENOUGH = 300;

let added = 0;
const below = (limit: number) => Math.floor(Math.random() * limit);

function record(engine: SqliteEngine): void {
  for (const { name, history } of queues) recordQueue(engine, name, history);
}

if (thread) recordThreads((engine) => record(engine as SqliteEngine));
else record(SqliteEngine.prototype);

/** Adds keys to a queue: new ones, and a few that are added again and again. */
async function add(queue: SqliteQueue): Promise<void> {
  while (!existsSync(over)) {
    const { ready, blocked } = await queue.counts();
    if (ready + blocked < ENOUGH) {
      await Promise.all(Array.from({ length: 20 }, () => {
        const keys = Array.from({ length: 1 + below(4) }, () => {
          const group = `group ${below(GROUPS)}`;
          return below(4) === 0 ? `${group}/again ${below(3)}` : `${group}/new ${process.pid} ${added++}`;
        });
        return queue.addAll(keys, { priority: below(4), ...below(5) === 0 && { delay: below(300) } });
      }));
    }
    await delay(20);
  }
}

const opened = queues.map(({ name, discipline }) => {
  const queue = createSqliteQueue({
    name,
    path,
    thread,
    leaseDuration,
    discipline,
    callTimeout: "1m",
    maxStalls: 1_000_000,
    limiter: { type: "exponential", baseDelay: 5, maxDelay: 50 },
    onQueueError: (error) => appendFileSync(errors, `${process.pid}: ${error}\n`),
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
await Promise.all(opened.map(({ queue }) => add(queue)));
