/** Workloads for queues outside the process. */

import { setImmediate as nextTurn } from "node:timers/promises";
import { type Contender, keys, type QueueOptions, type Session } from "./contender.ts";

/** Workload, with its concurrency. */
export interface Work<S extends Session = Session> {
  readonly concurrency: number;
  /** Number of items in one measurement. */
  readonly items: number;
  /** Whether the workload leaves all items in the queue; otherwise, it leaves the queue empty. */
  readonly fills: boolean;
  /** Processes the items and returns the time in milliseconds. */
  time(session: S, keys: string[], concurrency: number): Promise<number>;
}

/** Adds one item per call, with `concurrency` calls at once. */
export async function add(session: Session, all: string[], concurrency: number): Promise<number> {
  return await timeOf(() => inParallel(concurrency, all, (key) => session.add(key)));
}

/** Adds many items per call. */
export async function addAll(session: Session, all: string[]): Promise<number> {
  return await timeOf(() => session.addAll(all));
}

/** Lets workers process all items. The measured time ends when the queue has recorded that every item is finished. */
export async function work(session: Session, all: string[], concurrency: number): Promise<number> {
  await session.addAll(all);
  let count = 0;
  let done: () => void;
  const handled = new Promise<void>((resolve) => done = resolve);
  const workers = await session.openWorkers(concurrency, () => {
    if (++count === all.length) done();
  });
  const time = await timeOf(async () => {
    workers.start();
    await handled;
    while (await session.left() > 0) await nextTurn();
  });
  await workers.stop();
  return time;
}

export async function inParallel(
  concurrency: number,
  all: readonly string[],
  run: (key: string) => Promise<unknown>,
): Promise<void> {
  const rest = all.values();
  await Promise.all(Array.from({ length: concurrency }, async () => {
    for (const key of rest) await run(key);
  }));
}

export async function timeOf(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

/** Runs a workload with a contender. Returns the microseconds per item. */
export async function measureWork<S extends Session>(
  open: Contender<S>,
  { time, concurrency, items, fills }: Work<S>,
  options: QueueOptions,
): Promise<number> {
  await using session = await open(options);
  const taken = await time(session, keys(items), concurrency);
  const left = await session.left();
  if (left !== (fills ? items : 0)) throw new Error(`${left} of ${items} items are left in ${options.queue}`);
  return taken * 1000 / items;
}
