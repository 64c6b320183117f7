import type { Duration } from "../base/duration.ts";

/**
 * Works on one item.
 *
 * Returning means success: the item's failures are forgotten. Throwing anything, or rejecting, means
 * failure: the item is tried again when its limiter says so. {@linkcode Outcome}, {@linkcode TerminalError} and
 * {@linkcode RetryAfterError} ask for something else.
 */
export type Handler<T> = (item: T, context: HandlerContext) => void | Outcome | Promise<void | Outcome>;

/** What a {@linkcode Handler} is told beside the item. */
export interface HandlerContext {
  /** 1 the first time, then one more each time until the item succeeds, is given up or asks for `requeueAfter`. */
  readonly attempt: number;
  /**
   * Aborts when the handler should stop: its time is up, the pool's `signal` aborted, or the lease was lost, where the
   * queue is not in this process. It is made when it is first read, and what follows is looked up then, so a copy of the
   * context (`{ ...context }`) has the `attempt` only.
   */
  readonly signal: AbortSignal;
  /** The name of the queue that the item is of; `""` if it has none. */
  readonly queue: string;
  /** What the queue knows the item by: what its `keyOf` made of it, or the item itself. */
  readonly key: unknown;
  /** The priority that the item was handed out with: the highest of the adds that led to it. */
  readonly priority: number;
  /**
   * Whether the item was added again since it was handed out, as of now: it will be handed out again, with what is new,
   * so this work may be cut short.
   */
  readonly addedAgain: boolean;
  /**
   * Grows with each time that the item is handed out, for those who refuse what comes from an earlier holder. `undefined`
   * unless the queue gives its holders such tokens: within one process nobody needs them.
   */
  readonly token: bigint | undefined;
}

/**
 * What a handler can ask for instead of plain success: `requeueAfter` forgets the item's failures and adds it
 * again after that long; `requeue: true` adds it again when the limiter says so, and `requeue: false` asks for
 * nothing. With both, `requeueAfter` counts, as in controller-runtime. The item keeps its priority unless there is another
 * `priority` beside them. To give one to a queue that takes none fails the attempt.
 *
 * A queue that is shutting down takes no `requeueAfter`: the item is done. It takes a `requeue` only while it drains
 * with `waiting: "wait"`.
 *
 * Whatever else a handler returns is plain success, but for an object that seems to be a misspelt outcome: that fails
 * the attempt.
 */
export type Outcome =
  | { requeueAfter: Duration; priority?: number | undefined }
  | { requeue: boolean; priority?: number | undefined };
