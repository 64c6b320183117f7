import type { Attempt } from "./attempt.ts";

/** Change to the objects of a cache. */
export interface Change<T> {
  /** Kind of change. `"resync"` is no change: it gives every object an attempt from time to time. */
  readonly type: "add" | "update" | "delete" | "resync";
  /** The object after the change; the last known one if it was deleted. */
  readonly object: T;
  /** The object before the change. */
  readonly before: T | undefined;
  /** Whether the object is from the first list. */
  readonly isInitial: boolean;
  /** Attempt whose request made the change. */
  readonly author: Attempt | undefined;
}
