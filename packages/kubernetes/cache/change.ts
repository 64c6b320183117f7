import type { Attempt } from "./attempt.ts";

/** Change to the objects of a cache. */
export interface Change<T> {
  /** Kind of change. `"resync"` is no change: it gives every object an attempt from time to time. */
  readonly type: "add" | "update" | "delete" | "resync";
  /** The object after the change; the last known one if it was deleted. */
  readonly object: T;
  /** The object before the change. */
  readonly before: T | undefined;
  /** Attempt whose request made the change. */
  readonly author: Attempt | undefined;
}
