/** Workloads that contenders perform. */

import type { Row } from "../rows/row.ts";

/** Name of this queue in the tables. */
export const OURS = "@workqueue/core";

/** Names of the Go queues in the tables. Each is measured with `GOMAXPROCS` set to 1 and to 2. */
export const CLIENT_GO = "client-go";
export const PRIORITY_QUEUE = "controller-runtime's priorityqueue";

/** Prepares a contender for a number of items. Returns a function that runs the workload once. */
export type Contender = (items: number) => Run | Promise<Run>;

export type Run = () => unknown;

/** Workload. Each JavaScript contender is measured on every runtime, in a process of its own. */
export interface Work extends Row {
  readonly items: number;
  /** Numbers of items of contenders that have another number than `items`. */
  readonly itemsOf: Readonly<Record<string, number>>;
  readonly unit: TimeUnit;
  readonly contenders: Readonly<Record<string, Contender>>;
  /** Names of benchmarks in `client-go/`, by contender. */
  readonly go: Readonly<Record<string, string>>;
}

/** Nanoseconds in each unit of time. */
export const NANOSECONDS = { "ns an item": 1, "µs an item": 1e3, "ms a snapshot": 1e6 } as const;

export type TimeUnit = keyof typeof NANOSECONDS;

/** Parts of a workload. By default, there are 100,000 items and no Go benchmarks, and times are in ns per item. */
type WorkParts = Omit<Work, "items" | "itemsOf" | "unit" | "go"> & Partial<Work>;

/** Defines a workload. Throws an error if a bound is for a contender that the workload doesn't have. */
export function defineWork(parts: WorkParts): Work {
  const work: Work = { items: 100_000, itemsOf: {}, unit: "ns an item", go: {}, ...parts };
  for (const { contender, than } of work.bounds ?? []) {
    for (const name of [contender, than]) {
      if (name !== undefined && !(name in work.contenders || name in work.go)) {
        throw new Error(`Work '${work.title}' has no '${name}'`);
      }
    }
  }
  return work;
}

/** Returns a contender that reads the clock once or more often per item. Returns a sum, so that no read is removed. */
export function clockAlone(readsPerItem = 1): Contender {
  return (items) => () => {
    let sum = 0;
    for (let i = 0; i < items * readsPerItem; i++) sum += performance.now();
    return sum;
  };
}
