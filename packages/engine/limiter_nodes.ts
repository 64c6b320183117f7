/**
 * Nodes of limiter plans. Each engine has tables with an entry for each kind of node, so a kind without an entry
 * doesn't compile.
 *
 * @module
 */

/**
 * Failure count of a limiter:
 *
 * - `0`: the limiter counts each failure once;
 * - `[0, TIMES, NTH]`: the limiter occurs TIMES times in the plan, and this is occurrence number NTH;
 * - `[INDEX, FORGET_AFTER]`: the limiter has its own count, which expires.
 */
export type Counting = 0 | readonly [number, number, number?];

/**
 * Limiter in a plan that counts failures: its kind, its count, and details. Durations are in milliseconds. The process
 * computes the delay of a `given` limiter.
 */
export type CountingNode =
  | readonly ["exponential", Counting, baseDelay: number, maxDelay: number]
  | readonly ["fast-slow", Counting, fastDelay: number, slowDelay: number, maxFastAttempts: number]
  | readonly ["steps", Counting, delays: readonly number[]]
  | readonly ["given", Counting];

/**
 * Limiter in a plan that does not count failures itself: its kind, and details. A detail that is an array is an inner
 * limiter. A negative rate stands for an infinite rate. All groups share a `named` limiter.
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

/**
 * Decoded plan: the limiter, the number of counts that expire, whether all counts do, and the milliseconds for which
 * due times are kept, if early failures are not counted.
 */
export type LimiterTree = readonly [limiter: LimiterNode, passing?: number, isPassing?: number, keepsDue?: number];
