import type { Clock } from "../base/clock.ts";
import type { Duration } from "../base/duration.ts";

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
   * are left, when the queue is shutting down and takes no retries: it does so only while it drains with
   * `waiting: "wait"`. `forget` of the queue starts the count afresh.
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
   * Is told of every attempt that failed. An attempt that runs out of time is reported at that moment, once, however
   * its handler ends. What the callback throws is dropped: there is nobody to tell.
   *
   * Without the callback, failures are written to `console.error`, one line a second at most.
   */
  onError?: ((error: unknown, item: T, attempt: number) => void) | undefined;
  /** Is told, once, of every item that is given up, after `onError`. What it throws goes to `onError`. */
  onGiveUp?: ((error: unknown, item: T, attempts: number) => void) | undefined;
}

/** The workers of one {@linkcode runWorkers}. Disposing the pool stops it. */
export interface WorkerPool extends AsyncDisposable {
  /** The number of handlers that are running, those that ran out of time among them. */
  readonly active: number;
  /**
   * Resolves when no handler is running and none will be begun: the queue was shut down and is empty, or
   * the pool was stopped. Rejects if the queue itself failed to hand out an item: where that can happen,
   * because a discipline or `keyOf` may throw, its rejection has to be handled.
   */
  readonly finished: Promise<void>;
  /**
   * Takes no more items; resolves when the handlers that are running have ended. An item that was added again
   * meanwhile is ready then: to drain the queue with other workers, wait for this first.
   */
  stop(): Promise<void>;
}
