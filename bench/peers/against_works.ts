/**
 * Workloads of the comparison with an earlier commit. They use only names that both versions have. They get the version
 * under test as an argument, and import no other version.
 */

import type { AddOptions, Clock, WorkQueue } from "@workqueue/core";
import { distinctKeys } from "../keys.ts";
import { randomPriorities } from "../priorities.ts";
import { StillClock } from "../still_clock.ts";

type Core = typeof import("@workqueue/core");

/** Runs a workload once. */
type Run = (core: Core) => unknown;

/** Number of items in most workloads. */
const ITEMS = 100_000;

const CONCURRENCY = 10;

const KEYS = distinctKeys(ITEMS);
const PRIORITIES: readonly AddOptions[] = randomPriorities(ITEMS);

function addAll(queue: WorkQueue<string>, options?: readonly AddOptions[]): void {
  if (options === undefined) { for (const key of KEYS) queue.add(key); }
  else for (let i = 0; i < ITEMS; i++) queue.add(KEYS[i]!, options[i]);
}

function takeAll(queue: WorkQueue<string>): number {
  let taken = 0;
  for (let lease = queue.tryGet(); lease !== undefined; lease = queue.tryGet(), taken++) queue.done(lease.item);
  return taken;
}

const pool = (handler: () => void | Promise<void>): Run => async ({ createExponentialLimiter, ...core }) => {
  const queue = core.createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 5, maxDelay: 1_000_000 }));
  addAll(queue);
  const { finished } = core.runWorkers(queue, handler, { concurrency: CONCURRENCY });
  queue.shutDown();
  await finished;
};

/** Counts a failure of each key, and takes the keys when their delays have ended. All failures are forgotten then. */
const byHand = (items: number, rounds = 1): Run => {
  const keys = distinctKeys(items);
  return ({ createExponentialLimiter, createRateLimitingQueue }) => {
    const clock = new StillClock();
    const limiter = createExponentialLimiter<string>({ baseDelay: 5, maxDelay: 1000 });
    const queue = createRateLimitingQueue<string>(limiter, { clock: clock as Clock });
    for (let round = 0; round < rounds; round++) {
      for (const key of keys) queue.addRateLimited(key);
      clock.moveToNextTimer();
      for (let lease = queue.tryGet(); lease !== undefined; lease = queue.tryGet()) {
        queue.forget(lease.item);
        queue.done(lease.item);
      }
    }
  };
};

/** Workloads, by name. */
export const againstWorks: Readonly<Record<string, Run>> = {
  "add, tryGet and done, one key at a time": ({ createWorkQueue }) => {
    const queue = createWorkQueue<string>();
    for (const key of KEYS) {
      queue.add(key);
      queue.done(queue.tryGet()!.item);
    }
  },
  "100,000 keys added, then all taken": ({ createWorkQueue }) => {
    const queue = createWorkQueue<string>();
    addAll(queue);
    takeAll(queue);
  },
  "addAfter, fired and taken": ({ createDelayingQueue }) => {
    const clock = new StillClock();
    const queue = createDelayingQueue<string>({ clock: clock as Clock });
    KEYS.forEach((key, i) => queue.addAfter(key, 1 + i % 50));
    for (let left = ITEMS; left > 0; left -= takeAll(queue)) clock.moveToNextTimer();
  },
  "runWorkers, sync handler": pool(() => {}),
  "runWorkers, async handler": pool(async () => {}),
  "by hand: fail, take, forget and finish, 1,000 keys": byHand(1000, 50),
  "by hand: fail, take, forget and finish, 100,000 keys": byHand(ITEMS),
  "10 workers wait in get": async ({ createWorkQueue }) => {
    const queue = createWorkQueue<string>();
    const workers = Array.from({ length: CONCURRENCY }, async () => {
      for (let lease = await queue.get(); !lease.shutdown; lease = await queue.get()) queue.done(lease.item);
    });
    addAll(queue);
    queue.shutDown();
    await Promise.all(workers);
  },
  "priority discipline, 201 priorities": ({ createWorkQueue, createPriorityDiscipline }) => {
    const queue = createWorkQueue<string>({ discipline: createPriorityDiscipline() });
    addAll(queue, PRIORITIES);
    takeAll(queue);
  },
};
