import type { Duration } from "../base/duration.ts";

/**
 * Works on one item.
 *
 * Returning means success: the item's failures are forgotten. Throwing anything, or rejecting, means
 * failure: the item is tried again when its limiter says so. {@linkcode Outcome} and
 * {@linkcode TerminalError} ask for something else.
 */
export type Handler<T> = (item: T, context: HandlerContext) => void | Outcome | Promise<void | Outcome>;

/** What a {@linkcode Handler} is told beside the item. */
export interface HandlerContext {
  /**
   * Aborts when the handler should stop: its time is up, or the pool's `signal` aborted. It is made when it is first
   * read, so a copy of the context (`{ ...context }`) is without it.
   */
  readonly signal: AbortSignal;
  /** 1 the first time, then one more each time until the item succeeds, is given up or asks for `requeueAfter`. */
  readonly attempt: number;
}

/**
 * What a handler can ask for instead of plain success: `requeueAfter` forgets the item's failures and adds it
 * again after that long; `requeue: true` adds it again when the limiter says so, and `requeue: false` asks for
 * nothing. With both, `requeueAfter` counts, as in controller-runtime.
 *
 * A queue that is shutting down takes no `requeueAfter`: the item is done. It takes a `requeue` only while it drains
 * with `waiting: "wait"`.
 *
 * Whatever else a handler returns is plain success, but for an object that seems to be a misspelt outcome: that fails
 * the attempt.
 */
export type Outcome = { requeueAfter: Duration } | { requeue: boolean };
