import type { Clock } from "../base/clock.ts";
import type { Duration } from "../base/duration.ts";
import type { GiveUpReason } from "./handler.ts";
import type { Throttle } from "./throttle.ts";
import type { SnapshotOptions } from "./work_queue.ts";

/** Options of {@linkcode runWorkers}. */
export interface WorkerOptions<T = unknown> {
  /**
   * Maximum number of handlers that run at once; a positive integer. Up to `maxAbandoned` handlers that are still
   * running after their timeout (abandoned handlers) are not counted.
   *
   * @default {1}
   */
  concurrency?: number | undefined;
  /**
   * Maximum number of abandoned handlers that run in addition to `concurrency`; a non-negative integer or `Infinity`.
   * Further abandoned handlers count toward `concurrency` until they end, and the pool reports this excess to
   * `onError`. This option bounds the number of handlers when a backend hangs.
   *
   * @default {concurrency}
   */
  maxAbandoned?: number | undefined;
  /**
   * Maximum number of retries before a failed item is given up; a non-negative integer or `Infinity`. An attempt that
   * returns `requeue` is counted, but never causes the item to be given up.
   *
   * A queue that is shutting down accepts retries only while it drains with `delayed: "flush"` or `"wait"`. Otherwise,
   * a failed item is given up at once, even if retries are left.
   *
   * The queue's `forget` resets the count, also during an attempt, and so does the queue's `forgetAfter`.
   *
   * @default {Infinity}
   */
  maxRetries?: number | undefined;
  /** Maximum duration of one attempt, from 1 ms to 2^31 - 1 ms, such as `"30s"`. By default, there is no limit. */
  timeout?: Duration | undefined;
  /**
   * Stops the pool and aborts the handlers' signals. If a handler fails after the signal has aborted, its item is
   * handed back and the attempt isn't counted. However, the attempt fails as usual if it timed out, if the handler
   * threw a `TerminalError`, or if the queue doesn't take the item back.
   */
  signal?: AbortSignal | undefined;
  /**
   * Clock of the pool. With the system clock, the pool pauses between handlers that never await, about every 10 ms, so
   * that timers and I/O get a turn. With a custom clock, there are no such pauses.
   *
   * @default {the clock of the queue}
   */
  clock?: Clock | undefined;
  /**
   * A {@linkcode Throttle} or a {@linkcode TokenBucket} that decides whether an attempt may start. Each attempt needs a
   * permit, first attempts and retries alike. A bucket grants a permit for each token. Pools that share a throttle take
   * turns. Pass a throttle of your own through `adaptThrottle`.
   *
   * The pool asks for a permit when an item is ready, and takes the item when the permit is granted. Until then, the
   * items stay in the queue, in the queue's order, where other pools can take them. An idle pool has no permits.
   *
   * A change to a bucket's rate or burst takes effect at once, even for pools that are waiting. If the rate or the
   * burst is 0, the pool waits until that value is changed. While the bucket is paused (`pauseFor`), no attempt starts.
   * The bucket's `resume` ends the pause at once.
   */
  throttle?: Throttle | undefined;
  /**
   * Returns what an attempt at the item costs the throttle: a finite number that is not negative. A bucket takes that
   * number of tokens, even more than its burst: then no attempt starts until the tokens are paid back. If the function
   * throws or returns anything else, the attempt fails. A handler that learns the cost later calls `context.charge`.
   *
   * @default {() => 1}
   */
  cost?: ((item: T) => number) | undefined;
  /**
   * Reports whether an error of a handler means that the backend is overloaded, such as a 503 response. Adaptive
   * throttles then allow fewer attempts. Timeouts and `RetryAfterError`s always mean this. An error that the function
   * throws is passed to `onError`.
   */
  isOverload?: ((error: unknown) => boolean) | undefined;
  /**
   * Effect of adding an item that a handler of the pool is processing:
   *
   * - `"again"`: the item becomes ready once the handler has ended;
   * - `"abort"`: in addition, the handler's signal aborts with an `AddedAgainError`, because the attempt works on old
   *   state. If the handler fails after that, with whatever error, the failure counts nowhere.
   *
   * @default {"again"}
   */
  whileProcessing?: "again" | "abort" | undefined;
  /**
   * Time for which attempts at an item are aborted, with `whileProcessing: "abort"`. Once this time has passed since
   * the first aborted attempt of an item began, adds abort no more attempts at the item until an attempt has run to its
   * end. So an item that is added all the time gets done as well.
   *
   * @default {"5s"}
   */
  abortFor?: Duration | undefined;
  /**
   * Called for every attempt that failed, with the error, the item and the number of the attempt. A timeout is reported
   * once, when it happens, regardless of how the handler ends. Errors that the callback throws are ignored.
   *
   * With a queue outside this process, the callback is also called for attempts whose outcome doesn't count because the
   * lease was lost, and for attempts whose outcome could not be sent.
   *
   * Without the callback, failures are written to `console.error`, at most one line per second.
   */
  onError?: ((error: unknown, item: T, attempt: number) => void) | undefined;
  /**
   * Called once for each item that is given up, after `onError`, with the last error, the item, the number of attempts,
   * and the reason. An error that the callback throws is passed to `onError`.
   *
   * With a queue on Redis, an item is also given up if every process that worked on it was lost (`"stalled"`). In that
   * case, only one of the queue's pools calls the callback.
   */
  onGiveUp?: ((error: unknown, item: T, attempts: number, reason: GiveUpReason) => void) | undefined;
}

/** Worker pool started by {@linkcode runWorkers}. Disposing the pool stops it. */
export interface WorkerPool<T = unknown> extends AsyncDisposable {
  /** Number of running handlers, including abandoned ones. */
  readonly active: number;
  /**
   * Maximum number of handlers that run at once. You can set this property at any time. If the number is raised, more
   * handlers start at once. If the number is lowered, running handlers continue until they end. `maxAbandoned` changes
   * with `concurrency`, unless the `maxAbandoned` option was given.
   *
   * @throws {RangeError} If set to a number that is not a positive integer.
   * @throws {TypeError} If set to anything that is not a number.
   */
  concurrency: number;
  /** Throttle of the pool, if there is one. The throttle comes from the pool's options or from its config document. */
  readonly throttle?: Throttle | undefined;
  /**
   * Starts no more handlers until {@linkcode WorkerPool.resume} is called. Running handlers continue. The items stay in
   * the queue, where other consumers can take them. A paused pool doesn't notice that its queue was shut down: a drain
   * and `finished` wait until the pool is resumed or stopped.
   *
   * An item that arrives just as the pool is paused is added again, at the end of the queue. If the queue is shutting
   * down and doesn't take the item back, the pool still processes the item.
   */
  pause(): void;
  /** Ends a pause. Does nothing if the pool isn't paused or was stopped. */
  resume(): void;
  /**
   * Returns a snapshot of the running and the failing items. The cost grows with `limit`.
   *
   * @param options `limit`: maximum length of each list, a non-negative integer. Default: 100.
   * @throws {RangeError} If `limit` is a number but not a non-negative integer.
   * @throws {TypeError} If `options` is not an object or has an unknown option, or `limit` is not a number.
   */
  snapshot(options?: SnapshotOptions): PoolSnapshot<T>;
  /**
   * Resolves when the pool has ended: no handler is running and none will start, because the queue was shut down and is
   * empty, or because the pool was stopped. Rejects if the queue failed to hand out an item. Handle the rejection if
   * the queue has a discipline or a `keyOf` that may throw.
   */
  readonly finished: Promise<void>;
  /**
   * Takes no more items. Resolves when the running handlers have ended and their outcomes have been carried out.
   * Rejects as {@linkcode WorkerPool.finished} does. If an item was added again while its handler was running, the
   * item is ready when the promise resolves. To drain the queue with other workers, await `stop` first.
   */
  stop(): Promise<void>;
}

/**
 * State of a pool at one moment. Apart from the items, a snapshot contains only numbers, strings and booleans, so it
 * can be sent as JSON if the items can.
 */
export interface PoolSnapshot<T = unknown> {
  /** Number of running handlers, including abandoned ones. */
  active: number;
  /** Number of abandoned handlers, which passed their timeout and are still running. */
  abandoned: number;
  /** Maximum number of handlers that run at once. */
  concurrency: number;
  /** Whether the pool is paused. */
  paused: boolean;
  /** Items whose handlers are running, the longest-running one first. */
  runningItems: RunningItem<T>[];
  /**
   * Number of items of the queue whose last attempt failed and that will be retried, whichever pool tried them. The
   * items of abandoned handlers are included. Absent if the queue is outside this process: see the queue's `counts`.
   */
  failing?: number;
  /**
   * Items whose last attempt in this pool failed and that will be retried, the latest failure first. Includes the items
   * of abandoned handlers, from their timeouts on. A pool remembers the 1,000 keys that failed most recently. The pool
   * forgets a key when the item succeeds, is given up, or is forgotten by the queue.
   */
  failingItems: FailingItem<T>[];
}

/** An item whose handler is running. */
export interface RunningItem<T> {
  /** The item. */
  item: T;
  /** Number of the attempt, starting at 1. */
  attempt: number;
  /**
   * Time since the handler first awaited something, in milliseconds; 0 before that. Pools read the system clock once
   * for all handlers that start in the same turn of the event loop. The value may therefore be too high by the length
   * of one such turn: about 10 ms, unless a handler blocks.
   */
  runningMs: number;
  /** Time since the attempt timed out, in milliseconds. Present only if the handler is abandoned. */
  abandonedMs?: number;
}

/** An item whose last attempt failed and that will be retried. */
export interface FailingItem<T> {
  /** The item. */
  item: T;
  /** Number of attempts so far. */
  attempts: number;
  /** The last error, on one line. */
  error: string;
  /**
   * Time since the last failure, in milliseconds. After a timeout, the time since the handler ended, if it has ended.
   */
  failedAgoMs: number;
  /**
   * Time until the item is due, in milliseconds. Absent if the item is not delayed or the queue doesn't know the time.
   */
  dueInMs?: number;
}
