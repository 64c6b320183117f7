/** What is timed, and how contenders are called. */

/** Does the work once. */
export type Run = () => unknown;

/** Prepares a contender for a number of items. */
export type Contender = (items: number) => Run | Promise<Run>;

/** A piece of work, done by several contenders in JavaScript and perhaps by a benchmark in Go. */
export interface Work {
  readonly title: string;
  readonly items: number;
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
