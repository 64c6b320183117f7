import type { TwinStore } from "../../contracts/engine_model.ts";
import type { LimiterRunner } from "../../contracts/limiter_steps.ts";

/** Store of the queues on which traces are replayed. */
export interface ReplayStore extends TwinStore {
  /** Opens the failures and the token buckets of a queue. */
  openLimiters(name: string): Promise<LimiterRunner>;
}

/** Queue on which a trace is replayed. */
export interface Place {
  readonly store: ReplayStore;
  /** Name of the queue. */
  readonly name: string;
}
