/**
 * Nodes of limiter plans. Each engine has tables with an entry for each kind of node, so a kind without an entry
 * doesn't compile.
 *
 * @module
 */

/**
 * Limiter in a plan whose delay depends on the key's number of failures: its kind, and details. Durations are in
 * milliseconds. The process computes the delay of a `given` limiter.
 */
export type CountingNode =
  | readonly ["exponential", baseDelay: number, maxDelay: number]
  | readonly ["fast-slow", fastDelay: number, slowDelay: number, maxFastAttempts: number]
  | readonly ["steps", delays: readonly number[]]
  | readonly ["given"];

/**
 * Limiter in a plan whose delay does not depend on the number of failures itself: its kind, and details. A detail that
 * is an array is an inner limiter. A negative rate stands for an infinite rate. All groups share a `named` limiter.
 */
export type OtherNode =
  | readonly ["bucket", id: string, rate: number, burst: number]
  | readonly ["jitter", LimiterNode, spread: number]
  | readonly ["max-of", ...LimiterNode[]]
  | readonly ["max-wait", LimiterNode, maxDelay: number]
  | readonly ["named", LimiterNode]
  | readonly ["per-group", separator: string, LimiterNode];

/** Limiter in a plan. */
export type LimiterNode = CountingNode | OtherNode;

/** Kind of a limiter in a plan. */
export type LimiterKind = LimiterNode[0];

/** Limiter of a kind in a plan. */
export type LimiterNodeOf<Kind extends LimiterKind> = Extract<LimiterNode, readonly [Kind, ...unknown[]]>;

/** Rules in a plan for counting the failures of keys. */
export interface FailureRules {
  /** Whether failures of attempts that began before the retry was due are not counted. Default: `false`. */
  readonly ignoresEarly?: boolean;
  /** Milliseconds from the end of a key's last delay until its failures are forgotten. Default: never. */
  readonly forgetAfter?: number;
  /** Whether delays depend on the number of failures. If not, adds by hand leave no count. Default: `true`. */
  readonly counts?: boolean;
}

/** Decoded plan: the limiter, and the rules that differ from the defaults, if any. */
export type LimiterTree = readonly [limiter: LimiterNode, rules?: FailureRules];
