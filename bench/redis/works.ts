/** Workloads for the comparison. */

import type { Contender, FullSession } from "../remote/contender.ts";
import { add, addAll, inParallel, measureWork, timeOf, type Work, work } from "../remote/works.ts";
import { bullmq } from "./bullmq.ts";
import { BULLMQ, OURS } from "./names.ts";
import { ours } from "./ours.ts";

export const contenders: Readonly<Record<string, Contender<FullSession>>> = { [OURS]: ours, [BULLMQ]: bullmq };

/** Workload on Redis. */
export interface RedisWork extends Work<FullSession> {
  readonly title: string;
  /** Whether the result has a bound. */
  readonly isBounded: boolean;
}

/** Takes and finishes items by direct calls, in `concurrency` loops that run at once. */
async function byHand(session: FullSession, all: string[], concurrency: number): Promise<number> {
  await session.addAll(all);
  return await timeOf(() => inParallel(concurrency, all, () => session.takeAndFinish()));
}

/** Numbers of items that take about a third of a second, by concurrency. */
const ITEMS: Readonly<Record<number, number>> = { 1: 1000, 10: 4000, 50: 6000 };

export const works: Readonly<Record<string, RedisWork>> = Object.fromEntries([
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
  time: RedisWork["time"],
  concurrency: number,
  kind: Pick<RedisWork, "fills" | "isBounded">,
): [string, RedisWork] {
  return [`${name}${concurrency}`, { title, concurrency, items: ITEMS[concurrency]!, ...kind, time }];
}

/** Runs a workload with `items` items. Returns the microseconds per item. */
export async function measure(
  { contender, work, ...options }: { contender: string; work: string; place: string; queue: string; payload: number },
  items: number = works[work]!.items,
): Promise<number> {
  return await measureWork(contenders[contender]!, { ...works[work]!, items }, options);
}
