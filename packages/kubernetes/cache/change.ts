import { AsyncLocalStorage } from "node:async_hooks";

/** Attempt of a controller at one key. */
export interface Attempt {
  /** Controller that makes the attempt. Compared by identity. */
  readonly controller: object;
  /** Key of the object. */
  readonly key: string;
  /** Ends the requests of the attempt. */
  readonly signal: AbortSignal;
  /** Throws if the attempt may write no longer, because the lease was lost. Called just before each write. */
  readonly check: (() => void) | undefined;
}

/** Attempt in which the current code runs, so that requests end with their attempt, and writes have an author. */
export const attempts: AsyncLocalStorage<Attempt> = new AsyncLocalStorage();

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
