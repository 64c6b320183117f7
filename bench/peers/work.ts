/** What is timed, and how contenders are called. */

/** Does the work once. */
export type Run = () => unknown;

/** Prepares a contender for a number of items. */
export type Contender = (items: number) => Run | Promise<Run>;

/** A piece of work, done by several contenders in JavaScript and perhaps by a benchmark in Go. */
export interface Work {
  readonly title: string;
  readonly items: number;
  /** What takes the time that is told: an item, unless it says that the whole run is something else. */
  readonly per?: "a snapshot";
  readonly contenders: Readonly<Record<string, Contender>>;
  /** The benchmark in `client-go/` that does the same. */
  readonly go?: string;
  /** Those who would take minutes, and with how many items they are timed instead. */
  readonly fewer?: Readonly<Record<string, number>>;
  /** What a reader has to know: where somebody does less, or more. */
  readonly note?: string;
}

/** What we call ourselves in the tables. */
export const OURS = "@workqueue/core";

/** What the original is called there. It is run by a program in Go, with a `GOMAXPROCS` of 1 and of 2. */
export const CLIENT_GO = "client-go";

/** So many looks at the clock. Returns something, or a compiler might find that nobody needs to look. */
export function lookAtTheClock(times: number): number {
  let sum = 0;
  for (let i = 0; i < times; i++) sum += performance.now();
  return sum;
}
