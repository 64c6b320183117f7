import type { Duration } from "../base/duration.ts";

/**
 * Works on one item.
 *
 * Returning means success: the item's failures are forgotten. Throwing anything, or rejecting, means
 * failure: the item is tried again when its limiter says so. {@linkcode Outcome}, {@linkcode TerminalError} and
 * {@linkcode RetryAfterError} ask for something else.
 */
export type Handler<T> = (item: T, context: HandlerContext) => void | Outcome | Promise<void | Outcome>;

/**
 * Why an item is given up:
 *
 * - `"maxRetries"`: it failed once more than `maxRetries` allows;
 * - `"terminal"`: its handler threw a `TerminalError`;
 * - `"shutdown"`: it failed while the queue was shutting down and took no retries;
 * - `"stalled"`: each process that worked on it was lost (only where the queue is not in this process);
 * - `"limiter"`: the limiter or the queue threw, so nobody can say when to try again.
 */
export type GiveUpReason = "maxRetries" | "terminal" | "shutdown" | "stalled" | "limiter";

/** What a {@linkcode Handler} is told beside the item. */
export interface HandlerContext {
  /** 1 the first time, then one more each time until the item succeeds, is given up or asks for `requeueAfter`. */
  readonly attempt: number;
  /**
   * Aborts when the handler should stop: its time is up, the pool's `signal` aborted, or the lease was lost, where the
   * queue is not in this process. It is made when it is first read, and what follows is looked up then, so a copy of
   * the context (`{ ...context }`) has the `attempt` only.
   */
  readonly signal: AbortSignal;
  /** The name of the queue that the item is of; `""` if it has none. */
  readonly queue: string;
  /** What the queue knows the item by: what its `keyOf` made of it, or the item itself. */
  readonly key: unknown;
  /** The priority that the item was handed out with: the highest of the adds that led to it. */
  readonly priority: number;
  /**
   * Reports whether the item was added again since it was handed out. If so, it will be handed out again, so the
   * handler may end early. Works without its context as well (`{ addedAgain }` as the handler's parameter). Always
   * `false` with a queue on Redis.
   */
  readonly addedAgain: () => boolean;
  /**
   * Grows with each time that the item is handed out, for those who refuse what comes from an earlier holder.
   * `undefined` unless the queue gives its holders such tokens: within one process nobody needs them.
   */
  readonly token: bigint | undefined;
}

/**
 * What a handler can ask for instead of plain success: `requeueAfter` forgets the item's failures and adds it
 * again after that long; `requeue: true` adds it again when the limiter says so, and `requeue: false` asks for
 * nothing. With both, `requeueAfter` counts, as in controller-runtime. A `requeueAfter` of 0 or less counts as absent,
 * as there: alone it is plain success. The item keeps its priority unless there is another `priority` beside them. To
 * give one to a queue that takes none fails the attempt.
 *
 * While a queue in memory is shutting down or draining, both mean success: the item is done.
 *
 * Whatever else a handler returns is plain success, but for an object that seems to be a misspelt outcome: that fails
 * the attempt.
 */
export type Outcome =
  | { requeueAfter: Duration; priority?: number | undefined }
  | { requeue: boolean; priority?: number | undefined };
