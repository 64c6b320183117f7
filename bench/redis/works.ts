/** Workloads for the comparison. */

import type { Contender, FullSession } from "../remote/contender.ts";
import { add, addAll, inParallel, measureWork, timeOf, type Work, work } from "../remote/works.ts";
import { bullmq } from "./bullmq.ts";
import { BULLMQ, FAIR, OURS, PRIORITY } from "./names.ts";
import { byPriority, fair, ours } from "./ours.ts";

/** Contenders that do the same work, and the orders of this package, which are compared with each other. */
export const peers = [OURS, BULLMQ];
export const orders = [OURS, PRIORITY, FAIR];

export const contenders: Readonly<Record<string, Contender<FullSession>>> = {
  [OURS]: ours,
  [BULLMQ]: bullmq,
  [PRIORITY]: byPriority,
  [FAIR]: fair,
};

/** Workload on Redis. */
export interface RedisWork extends Work<FullSession> {
  readonly title: string;
  /** Minimum speed relative to BullMQ, with keys alone. `undefined` if the result has no bound. */
  readonly least?: number | undefined;
}

/** Takes and finishes items by direct calls, in `concurrency` loops that run at once. */
async function byHand(session: FullSession, all: string[], concurrency: number): Promise<number> {
  await session.addAll(all);
  return await timeOf(() => inParallel(concurrency, all, () => session.takeAndFinish()));
}

/** Numbers of items that take about a third of a second, by concurrency. */
const ITEMS: Readonly<Record<number, number>> = { 1: 1000, 10: 4000, 50: 6000, 100: 8000 };

/** Concurrencies, each with the minimum speed relative to BullMQ, with keys alone. */
const LEAST = [[1, 1.3], [10, 3], [50, 4]] as const;

export const works: Readonly<Record<string, RedisWork>> = Object.fromEntries([
  ...LEAST.map(([concurrency, least]) => workOf("add", "add", add, concurrency, { fills: true, least })),
  ...LEAST.map(([concurrency, least]) =>
    workOf("work", "take + finish, workers", work, concurrency, { fills: false, least })
  ),
  ...[1, 10, 50].map((concurrency) => workOf("hand", "take + finish, by hand", byHand, concurrency, { fills: false })),
  ["bulk", {
    title: "add, 100 in one call",
    concurrency: 1,
    items: 10_000,
    fills: true,
    time: addAll,
  }],
]);

/** Works of which the orders are compared. */
export const orderedWorks: Readonly<Record<string, RedisWork>> = Object.fromEntries(
  [1, 10, 100].map((concurrency) => workOf("order", "take + finish, workers", work, concurrency, { fills: false })),
);

function workOf(
  name: string,
  title: string,
  time: RedisWork["time"],
  concurrency: number,
  kind: Pick<RedisWork, "fills" | "least">,
): [string, RedisWork] {
  return [`${name}${concurrency}`, { title, concurrency, items: ITEMS[concurrency]!, ...kind, time }];
}

/** Runs a workload with `items` items. Returns the microseconds per item. */
export async function measure(
  { contender, work, ...options }: { contender: string; work: string; place: string; queue: string; payload: number },
  items?: number,
): Promise<number> {
  const measured = works[work] ?? orderedWorks[work]!;
  return await measureWork(contenders[contender]!, { ...measured, items: items ?? measured.items }, options);
}
