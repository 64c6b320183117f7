/** Cost of recording the load of a queue. */

import { setImmediate } from "node:timers";
import {
  createDefaultControllerLimiter,
  createRateLimitingQueue,
  type RateLimitingQueue,
  runWorkers,
  type WorkerPool,
} from "@workqueue/core";
import { type LoadRecording, recordLoad } from "@workqueue/simulate";
import { distinctKeys } from "../keys.ts";
import { type Contender, defineWork, type Work } from "./row.ts";

/** Number of keys that are added at once. */
const BATCH = 500;

type StartRecording = (queue: RateLimitingQueue<string>, pool: WorkerPool<string>) => LoadRecording | undefined;

/** Adds keys in batches and waits for each batch. At the end, the trace is complete, and no event was dropped. */
const handled = (record: StartRecording): Contender => (items) => {
  const keys = distinctKeys(items);
  return async () => {
    const queue = createRateLimitingQueue<string>(createDefaultControllerLimiter());
    const pool = runWorkers(queue, async () => {});
    const recording = record(queue, pool);
    for (let start = 0; start < items; start += BATCH) {
      for (const key of keys.slice(start, start + BATCH)) queue.add(key);
      await queue.whenIdle();
      await new Promise((resolve) => setImmediate(resolve)); // a program that only computes would drop events
    }
    queue.shutDown();
    await pool.finished;
    await recording?.[Symbol.asyncDispose]();
    if ((recording?.dropped ?? 0) > 0) throw new Error(`${recording!.dropped} events were dropped`);
  };
};

const NOT_RECORDED = "not recorded";
const RECORDED = "recorded";

/** Workloads, by short name. */
export const recordingWorks: Readonly<Record<string, Work>> = {
  recordings: defineWork({
    title: "`recordLoad`: `add`, then one attempt of a worker",
    note:
      "The time includes the formatting of the trace, with hashed keys. `write` drops the lines. The bound for the " +
      "cost of a recording is 2,000 ns. This bound is stricter, because it includes the work of the queue and the pool.",
    contenders: {
      [NOT_RECORDED]: handled(() => undefined),
      [RECORDED]: handled((queue, pool) => recordLoad(queue, pool, () => {})),
    },
    bounds: [{ contender: RECORDED, atMost: 2000 }],
  }),
};
