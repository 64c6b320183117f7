/** Workloads for the comparison. */

import { bullmq } from "./bullmq.ts";
import { BULLMQ, type Contender, keys, OURS, type Session } from "./contender.ts";
import { ours } from "./ours.ts";

export const contenders: Readonly<Record<string, Contender>> = { [OURS]: ours, [BULLMQ]: bullmq };

/** Workload, with its concurrency. */
export interface Work {
  readonly title: string;
  readonly concurrency: number;
  /** Number of items in one measurement. */
  readonly items: number;
  /** Whether the workload leaves all items in the queue; otherwise, it leaves the queue empty. */
  readonly fills: boolean;
  /** Whether the result has a bound. */
  readonly isBounded: boolean;
  /** Processes the items and returns the time in milliseconds. */
  time(session: Session, keys: string[], concurrency: number): Promise<number>;
}

/** Adds one item per call, with `concurrency` calls at once. */
async function add(session: Session, all: string[], concurrency: number): Promise<number> {
  return await timeOf(() => inParallel(concurrency, all, (key) => session.add(key)));
}

/** Adds many items per call. */
async function addAll(session: Session, all: string[]): Promise<number> {
  return await timeOf(() => session.addAll(all));
}

/** Lets workers process all items. The measured time ends when the server has recorded that every item is finished. */
async function work(session: Session, all: string[], concurrency: number): Promise<number> {
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
    while (await session.left() > 0);
  });
  await workers.stop();
  return time;
}

/** Takes and finishes items by direct calls, in `concurrency` loops that run at once. */
async function byHand(session: Session, all: string[], concurrency: number): Promise<number> {
  await session.addAll(all);
  return await timeOf(() => inParallel(concurrency, all, () => session.takeAndFinish()));
}

async function inParallel(concurrency: number, all: string[], run: (key: string) => Promise<unknown>): Promise<void> {
  const rest = all.values();
  await Promise.all(Array.from({ length: concurrency }, async () => {
    for (const key of rest) await run(key);
  }));
}

async function timeOf(run: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

/** Numbers of items that take about a third of a second, by concurrency. */
const ITEMS: Readonly<Record<number, number>> = { 1: 1000, 10: 4000, 50: 6000 };

export const works: Readonly<Record<string, Work>> = Object.fromEntries([
  ...[1, 10, 50].map((concurrency) => workOf("add", "add", add, concurrency, { fills: true, isBounded: true })),
  ...[1, 10, 50].map((concurrency) =>
    workOf("work", "take + finish, workers", work, concurrency, { fills: false, isBounded: true })
  ),
  ...[1, 10, 50].map((concurrency) =>
    workOf("hand", "take + finish, by hand", byHand, concurrency, { fills: false, isBounded: false })
  ),
  ["bulk", {
    title: "add, 100 in one call",
    concurrency: 1,
    items: 10_000,
    fills: true,
    isBounded: false,
    time: addAll,
  }],
]);

function workOf(
  name: string,
  title: string,
  time: Work["time"],
  concurrency: number,
  kind: Pick<Work, "fills" | "isBounded">,
): [string, Work] {
  return [`${name}${concurrency}`, { title, concurrency, items: ITEMS[concurrency]!, ...kind, time }];
}

/** Runs a workload with `items` items. Returns the microseconds per item. */
export async function measure(
  { contender, work, ...options }: { contender: string; work: string; url: string; queue: string; payload: number },
  items: number = works[work]!.items,
): Promise<number> {
  await using session = await contenders[contender]!(options);
  const { title, time, concurrency, fills } = works[work]!;
  const taken = await time(session, keys(items), concurrency);
  const left = await session.left();
  if (left !== (fills ? items : 0)) throw new Error(`${contender} has ${left} of ${items} items after: ${title}`);
  return taken * 1000 / items;
}
