/** Workloads that are measured, and names of the contenders. */

/** Runs the workload once. */
export type Run = () => unknown;

/** Prepares a contender for a number of items. */
export type Contender = (items: number) => Run | Promise<Run>;

/** Workload that several JavaScript contenders perform and, if `go` is set, a Go benchmark too. */
export interface Work {
  readonly title: string;
  readonly items: number;
  /** Unit for which times are reported. Default: an item. */
  readonly per?: "a snapshot";
  readonly contenders: Readonly<Record<string, Contender>>;
  /** Name of the corresponding Go benchmark in `client-go/`. */
  readonly go?: string;
  /** Smaller numbers of items, by contender, for contenders that would otherwise take minutes. */
  readonly fewer?: Readonly<Record<string, number>>;
  /** Differences between the contenders that readers of the report must know. */
  readonly note?: string;
}

/** Name of this queue in the tables. */
export const OURS = "@workqueue/core";

/** Name of client-go in the tables. A Go program measures client-go with `GOMAXPROCS` set to 1 and to 2. */
export const CLIENT_GO = "client-go";

/** Reads the clock `times` times. Returns the sum of the values, so that a compiler can't remove the reads. */
export function lookAtTheClock(times: number): number {
  let sum = 0;
  for (let i = 0; i < times; i++) sum += performance.now();
  return sum;
}
