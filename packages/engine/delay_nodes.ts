/**
 * Delays as an engine evaluates them. The process computes every part of a delay that needs no shared state. The nodes
 * are the other parts: token buckets that processes share, and the limiters around them. Each engine has a table with
 * an entry for each kind of node, so a kind without an entry doesn't compile.
 *
 * @module
 */

/**
 * Node of a delay: its kind, and details. Inner delays are combined: the longest of several, at most a number of
 * milliseconds, or multiplied by a factor. A negative rate stands for an infinite rate.
 */
export type DelayNode =
  | readonly ["bucket", id: string, rate: number, burst: number]
  | readonly ["longest", ...Delay[]]
  | readonly ["at-most", Delay, ms: number]
  | readonly ["times", Delay, factor: number];

/** Delay in milliseconds, or the node that gives it. */
export type Delay = number | DelayNode;

/** Kind of a node. */
export type DelayKind = DelayNode[0];

/** Node of a kind. */
export type DelayNodeOf<Kind extends DelayKind> = Extract<DelayNode, readonly [Kind, ...unknown[]]>;

/**
 * Input of an engine for one failure: the number of earlier failures for which the delay was computed, or -1 if it does
 * not depend on the number, and the delay.
 */
export type FailureInput = readonly [assumed: number, delay: Delay];

/** Rules for counting the failures of keys. */
export interface FailureRules {
  /** Whether failures of attempts that began before the retry was due are not counted. Default: `false`. */
  readonly ignoresEarly?: boolean;
  /** Milliseconds from the end of a key's last delay until its failures are forgotten. Default: never. */
  readonly forgetAfter?: number;
  /** Whether delays depend on the number of failures. If not, adds by hand leave no count. Default: `true`. */
  readonly counts?: boolean;
}
