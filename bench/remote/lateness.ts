/** Time until an idle worker process begins an item that another process has added. */

import { percentileOf } from "../statistics.ts";
import type { Agent } from "./agents.ts";
import type { SessionCalls } from "./calls.ts";
import type { QueueOptions } from "./contender.ts";

/** Lateness in milliseconds. */
export interface Lateness {
  readonly median: number;
  readonly p99: number;
  readonly worst: number;
}

/** Concurrency of the workers. */
const CONCURRENCY = 10;
const TIMEOUT = 30_000;

/**
 * Lets one process add `times` items to a queue, and another process work on them. Returns the lateness of the items.
 *
 * @param add Function that lets the first process add items. The key of each item is the time at which it is due.
 */
export async function measureLateness(
  { producer, worker }: Readonly<Record<"producer" | "worker", Agent<SessionCalls>>>,
  queue: QueueOptions & { contender: string },
  times: number,
  add: () => Promise<void>,
): Promise<Lateness> {
  await Promise.all([producer.call("open", queue), worker.call("open", queue)]);
  await worker.call("work", { concurrency: CONCURRENCY });
  await add();
  for (const end = performance.now() + TIMEOUT; (await worker.call("count")).count < times;) {
    if (performance.now() > end) throw new Error(`${queue.contender} loses items`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const all = await worker.call("stop");
  await Promise.all([producer.call("close"), worker.call("close")]);
  const late = all.slice(times / 10); // skips the first tenth: code is still being compiled
  return { median: percentileOf(late, 50), p99: percentileOf(late, 99), worst: Math.max(...late) };
}
