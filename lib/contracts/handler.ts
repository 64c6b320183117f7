import type { Duration } from "../base/duration.ts";
import type { Result } from "../base/result.ts";

/** Processes one item.
 *
 * Returning means success: the item's failures are forgotten. A value that is not an {@linkcode Outcome} is the result,
 * which `addAndWait` of the queue resolves with. Throwing or rejecting with any value means failure: the
 * item is retried after the limiter's delay. Use {@linkcode Outcome}, {@linkcode TerminalError} and
 * {@linkcode RetryAfterError} to request a different outcome.
 */
export type Handler<T, R = AnyResult> = (
  item: T,
  context: HandlerContext,
) => HandlerResult<R> | Promise<HandlerResult<R>>;

/** Value that a {@linkcode Handler} may return. */
export type HandlerResult<R> = R | Result<R> | Outcome;

/**
 * Any result, or none. Allows every value, like `unknown`, but the `resolve` of a promise of this type may be called
 * without a value.
 */
export type AnyResult = NonNullable<unknown> | null | undefined | void;

/** Result that the handlers of a queue return. If the queue declares no type, any result or none. */
export type ResultOf<R> = unknown extends R ? AnyResult : R;

/**
 * Reason for giving an item up:
 *
 * - `"maxRetries"`: it failed more often than `maxRetries` allows;
 * - `"terminal"`: its handler threw a `TerminalError`;
 * - `"shutdown"`: it failed while the queue was shutting down and no longer accepted retries;
 * - `"stalled"`: every process that worked on it was lost (only for queues outside this process);
 * - `"limiter"`: the limiter or the queue threw, so the delay of the retry is unknown.
 */
export type GiveUpReason = "maxRetries" | "terminal" | "shutdown" | "stalled" | "limiter";

/** Second argument of a {@linkcode Handler}: details of the attempt. */
export interface HandlerContext {
  /**
   * Number of the attempt, starting at 1. The number increases until the item succeeds or is given up, or the handler
   * returns `requeueAfter`.
   */
  readonly attempt: number;
  /**
   * Aborts when the handler should stop: the attempt timed out, the pool's `signal` aborted, or the lease was lost
   * (only for queues outside this process).
   *
   * This property and the following ones are getters, so a copy of the context (`{ ...context }`) contains only
   * `attempt`.
   */
  readonly signal: AbortSignal;
  /** Name of the item's queue; `""` if it has none. */
  readonly queue: string;
  /** Key of the item, as returned by the queue's `keyOf`; by default, the item itself. */
  readonly key: unknown;
  /** Priority with which the item was handed out: the highest priority among the adds that led to this attempt. */
  readonly priority: number;
  /**
   * Reports whether the item has been added again since it was handed out. A handler whose item was added again can
   * stop early, because the item will be handed out again. The function can be destructured (`{ addedAgain }` as the
   * handler's parameter). In a file and on Redis, an add of another process is known a moment later.
   */
  readonly addedAgain: () => boolean;
  /**
   * Fencing token: a number that grows each time the item is handed out, so that a backend can reject writes from an
   * earlier consumer. `undefined` for in-memory queues, which don't need fencing.
   */
  readonly token: bigint | undefined;
  /**
   * The span that added the item, as a `traceparent` of W3C Trace Context, if its queue keeps it. Queues on Redis do;
   * `tracedHandler` of `@workqueue/opentelemetry` links to it.
   */
  readonly trace: string | undefined;
  /**
   * Adds to the cost of this attempt in the pool's `throttle`, at once, when the handler learns what the attempt costs,
   * such as the number of tokens that a language model used. A negative cost is given back, but never more than this
   * attempt has taken, with the pool's `cost` and with `charge`. So a handler can reserve the most that the attempt may
   * cost, and settle the account afterwards. Has no effect if the pool has no throttle or its throttle ignores costs.
   * The function can be destructured.
   *
   * @throws {RangeError} If `cost` is `NaN` or infinite.
   * @throws {TypeError} If `cost` is not a number.
   * @throws {Error} If the handler has ended.
   */
  readonly charge: (cost: number) => void;
}

/**
 * Outcome that a handler can return instead of plain success:
 *
 * - `requeueAfter` forgets the item's failures and adds the item again after the given duration. A duration of 0 or
 *   less is ignored, as in controller-runtime: without `requeue: true`, the outcome is then plain success.
 * - `requeue: true` adds the item again after the limiter's delay. `requeue: false` means plain success.
 *
 * If both `requeue` and `requeueAfter` are given, `requeueAfter` takes precedence, as in controller-runtime. The item
 * keeps its priority unless `priority` is given. An invalid duration or priority fails the attempt, and so does a
 * priority on a queue without priorities.
 *
 * While an in-memory queue is shutting down or draining, `requeueAfter` and `requeue` mean plain success: the item is
 * done.
 *
 * Any other value that a handler returns is its result, and means success. However, an object that looks like a
 * misspelled outcome fails the attempt. `result(value)` returns any value as it is.
 */
export type Outcome =
  | { requeueAfter: Duration; priority?: number | undefined }
  | { requeue: boolean; priority?: number | undefined };
