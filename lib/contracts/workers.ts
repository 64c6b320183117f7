import type { Clock } from "../base/clock.ts";
import type { Duration } from "../base/duration.ts";
import type { GiveUpReason } from "./handler.ts";
import type { TokenSource } from "./token_source.ts";
import type { SnapshotOptions } from "./work_queue.ts";

/** The options of {@linkcode runWorkers}. */
export interface WorkerOptions<T = unknown> {
  /**
   * How many items are worked on at once; a positive integer. Handlers that have run out of time and go on all the
   * same are not counted, up to `maxAbandoned` of them.
   *
   * @default {1}
   */
  concurrency?: number | undefined;
  /**
   * How many handlers may go on after they have run out of time, beside those that `concurrency` allows; a non-negative
   * integer or `Infinity`. Once there are more, the pool waits for handlers to end before it begins others, and says so
   * through `onError`: when all of what handlers wait for hangs, the number of handlers stays bounded.
   *
   * @default {concurrency}
   */
  maxAbandoned?: number | undefined;
  /**
   * How many times an item is tried again until a failure gives it up; a non-negative integer or `Infinity`.
   * An attempt that asks for `requeue` counts, but gives nothing up. A failure also gives up the item, whatever retries
   * are left, when the queue is shutting down and takes no retries: it takes them only while it drains with
   * `delayed: "flush"` or `"wait"`. `forget` of the queue starts the count afresh, and so does a
   * limiter that forgets the item after a time (`forgetAfter`).
   *
   * @default {Infinity}
   */
  maxRetries?: number | undefined;
  /** How long one attempt may take, from 1 ms to 2^31 - 1 ms, such as `"30s"`. By default there is no limit. */
  timeout?: Duration | undefined;
  /**
   * Stops the pool and aborts the handlers' signals. An item whose handler fails after that goes back to the
   * queue as it came, if the queue takes it: that attempt is not counted.
   */
  signal?: AbortSignal | undefined;
  /**
   * Where time comes from. A pool with a clock of your own waits for nothing else, so handlers that never wait are not
   * interrupted to let timers and I/O have their turn, as they are under the system's clock.
   *
   * @default {the clock of the queue}
   */
  clock?: Clock | undefined;
  /**
   * A {@linkcode TokenBucket}: no attempt begins without one of its tokens, neither a first one nor a retry. Pools that
   * share a bucket take turns. The pool takes the token first, and then the item that is next, so what has to wait
   * waits in the queue, in its order; for a token that finds no item it waits for one. By then the bucket may have got
   * another token: after a while without items, each pool may begin one attempt more than the bucket holds. A pool that
   * ends, is paused or may begin no other handler gives its token to the next one that waits, or back to the bucket.
   *
   * A changed rate or burst is felt at once by those who wait. Under a rate or a burst of 0, the pool waits until that
   * is changed. While the bucket is paused (`pauseFor`), no attempt begins, not even with a token that was taken
   * before: it goes back to the bucket. An item that comes in the very moment of the `pauseFor` is added again, as when
   * the pool is paused; if its queue is shutting down and does not take it, the pool works on it. `resume` ends that at
   * once.
   *
   * All this is true of a `TokenBucket`. An object that has only its `reserve` reports no changes: what it has granted
   * stands, and unused tokens are kept for the next pool that asks.
   */
  throttle?: TokenSource | undefined;
  /**
   * Is told of every attempt that failed. An attempt that runs out of time is reported at that moment, once, however
   * its handler ends. What the callback throws is dropped: there is nobody to tell.
   *
   * With a queue that is not in this process, it is also told of attempts whose outcome does not count, as their lease
   * was lost, and of those whose outcome could not be sent.
   *
   * Without the callback, failures are written to `console.error`, one line a second at most.
   */
  onError?: ((error: unknown, item: T, attempt: number) => void) | undefined;
  /**
   * Called once for each item that is given up, after `onError`, with the last error, the item, the number of attempts,
   * and the reason. What it throws goes to `onError`.
   *
   * With a queue on Redis, one of the pools is also told of items that are given up as each process that worked on them
   * was lost (`"stalled"`).
   */
  onGiveUp?: ((error: unknown, item: T, attempts: number, reason: GiveUpReason) => void) | undefined;
}

/** The workers of one {@linkcode runWorkers}. Disposing the pool stops it. */
export interface WorkerPool<T = unknown> extends AsyncDisposable {
  /** Number of handlers that run, abandoned ones included. */
  readonly active: number;
  /**
   * How many items are worked on at once. It may be set at any time, to a positive integer: with a higher number more
   * handlers begin at once, with a lower one those that are running go on to their end. `maxAbandoned` follows where it
   * was left out.
   */
  concurrency: number;
  /** The bucket that attempts take their tokens from now, if there is one: from the pool's options, or its document. */
  readonly throttle?: TokenSource | undefined;
  /**
   * Begins no more handlers until {@linkcode WorkerPool.resume}; those that are running go on. The items stay in the
   * queue, for others who take some. A paused pool does not look at its queue: if that is shut down, a drain is held
   * up, and `finished` waits, until the pool is resumed or stopped.
   *
   * An item that comes in this very moment is added again: it goes to the end of the queue. If the queue is shutting
   * down and does not take it, the pool works on this last one.
   */
  pause(): void;
  /** Ends a pause. Does nothing if there is none, or if the pool was stopped. */
  resume(): void;
  /**
   * Shows what the pool works on, and what fails. Making a snapshot takes time by its limit.
   *
   * @param options With a `limit` for the length of each list: a non-negative integer, 100 by default.
   * @throws {RangeError} If `limit` is no non-negative integer.
   * @throws {TypeError} If `options` is no object of options, or `limit` no number.
   */
  snapshot(options?: SnapshotOptions): PoolSnapshot<T>;
  /**
   * Resolves when no handler is running and none will be begun: the queue was shut down and is empty, or
   * the pool was stopped. Rejects if the queue itself failed to hand out an item: where that can happen,
   * because a discipline or `keyOf` may throw, its rejection has to be handled.
   */
  readonly finished: Promise<void>;
  /**
   * Takes no more items; resolves when the handlers that are running have ended, and their outcomes are carried out. An
   * item that was added again meanwhile is ready then: to drain the queue with other workers, wait for this first.
   */
  stop(): Promise<void>;
}

/**
 * What a pool does at one moment. Beside the items there are only numbers, texts and booleans, so it can be sent as
 * JSON if they can.
 */
export interface PoolSnapshot<T = unknown> {
  /** Number of handlers that run, abandoned ones included. */
  active: number;
  /** How many of them are abandoned: they passed their timeout and still run. */
  abandoned: number;
  /** How many items may be worked on at once. */
  concurrency: number;
  /** Whether the pool is paused. */
  paused: boolean;
  /** What handlers are running for, the one that has been running longest first. */
  runningItems: RunningItem<T>[];
  /**
   * What failed the last time it was tried here and will be tried again, the latest failure first. A pool knows the
   * latest 1,000 keys that failed. It forgets one when it succeeds, is given up, or is forgotten by the queue.
   */
  failingItems: FailingItem<T>[];
}

/** An item that a handler is running for. */
export interface RunningItem<T> {
  /** The item. */
  item: T;
  /** Which attempt it is: 1 the first time. */
  attempt: number;
  /**
   * For how long the handler has been running, in milliseconds, not counting what it did before it waited for the first
   * time. Pools look at the system's clock once for all handlers that begin in one turn of the event loop, so this may
   * be longer by as much as that turn took: some ten milliseconds, unless a handler blocks.
   */
  runningMs: number;
}

/** An item whose last attempt failed and that will be tried again. */
export interface FailingItem<T> {
  /** The item. */
  item: T;
  /** How many attempts there were. */
  attempts: number;
  /** The last error, in one line. */
  error: string;
  /** How long ago it was, in milliseconds. */
  failedAgoMs: number;
  /** In how many milliseconds the item is due; left out if it does not wait, or if the queue cannot tell. */
  dueInMs?: number;
}
