/** Steps that use limiters of an engine without a queue, each at its own time. */

import type { BucketPlan } from "../../packages/engine/limiter_plan.ts";

/** Step: an operation, its time in whole microseconds, and its arguments. */
export type Step =
  | readonly ["when", time: number, rules: string, key: string, given: string, started?: number, minDelay?: number]
  | readonly ["when by hand", time: number, rules: string, key: string, given: string, minDelay?: number]
  | readonly ["requeues", time: number, rules: string, key: string]
  | readonly ["forget", time: number, key: string]
  | readonly ["failures", time: number, keys: readonly string[]]
  | readonly ["take" | "give back", time: number, ...bucket: BucketPlan, count: number];

/** Runner of limiter steps on the failures and the token buckets of a queue. */
export interface LimiterRunner extends AsyncDisposable {
  /**
   * Runs steps and returns the answers to each. A `failures` step has one answer per key, any other step one or two.
   */
  run(...steps: Step[]): Promise<(number | undefined)[][]>;

  /** Removes all failures and buckets. */
  clear(): Promise<void>;
}

/** Registers a test that has its own runner. */
export type LimiterTest = (name: string, run: (runner: LimiterRunner) => Promise<void>) => void;
