/** Rows of a comparison: what is measured, and the bounds for it. */

/** Names of the runtimes, in the order of the tables. */
export const RUNTIMES = ["deno", "bun", "node"] as const;

export type RuntimeName = typeof RUNTIMES[number];

/** Names of the runtimes in the tables. */
export const NAMES: Readonly<Record<RuntimeName, string>> = { deno: "Deno", bun: "Bun", node: "Node" };

/** Work or probe. */
export interface Row {
  readonly title: string;
  /** Facts that readers of the report must know, such as differences between the contenders. */
  readonly note?: string;
  readonly unit: string;
  /** Number of rounds, for rows that take long or whose figures hardly vary. Default: as many as asked for. */
  readonly rounds?: number;
  readonly bounds?: readonly Bound[];
}

/**
 * Bound for a figure of a row, or for the ratio of two figures of the same row. A bound names contenders and nothing
 * else, so it can't compare figures that were measured at different times.
 */
export interface Bound {
  /** Contender whose figure is bounded. Default: the first contender. */
  readonly contender?: string;
  /** Contender to compare with, in the same round. Without it, the figure itself is bounded. */
  readonly than?: string;
  /** `GOMAXPROCS` of the Go contender to compare with. Default: whichever was faster in the round. */
  readonly procs?: Procs;
  /** Smallest allowed figure, or how many times as fast as `than` the contender must be. */
  readonly atLeast?: number;
  /** Largest allowed figure, or how many times the cost of `than` the contender may have. */
  readonly atMost?: number;
  /** Unit of the figure. Default: the unit of the row. */
  readonly unit?: string;
  /** Runtimes for which the bound holds. Default: all. */
  readonly on?: readonly string[];
}

/** Number of rounds of rows that compare nothing. */
export const FEW_ROUNDS = 3;

/** Values of `GOMAXPROCS` with which Go contenders are measured. */
export const PROCS = ["1", "2"] as const;

export type Procs = typeof PROCS[number];
