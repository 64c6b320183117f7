import type { Duration } from "../base/duration.ts";
import type { DelayingQueue, DelayingQueueOptions } from "./delaying_queue.ts";
import type { GivenUpQueue, GivenUpStore } from "./given_up.ts";
import type { AddOptions } from "./work_queue.ts";

/**
 * A {@linkcode DelayingQueue} for items that failed. The queue's limiter decides how long each item is delayed before
 * the next attempt.
 *
 * `R` is the type of the results, which handlers return.
 *
 * Made by {@linkcode createRateLimitingQueue}. {@linkcode runWorkers} calls `addRateLimited` and `forget` for you.
 */
export interface RateLimitingQueue<T, R = unknown> extends DelayingQueue<T>, GivenUpQueue<T> {
  /**
   * Adds the item, and waits for the result of the work on it: the promise resolves with the value that the handler
   * returned in the first attempt that began after this call and succeeded. Calls whose adds are folded into one
   * attempt get the same result. Failed attempts are retried as always, and the call keeps waiting.
   *
   * - If the handler returns `requeue`, the call keeps waiting. If it returns `requeueAfter`, or a consumer that took
   *   the item with `get` calls `done`, the promise resolves to `undefined`.
   * - If the item is given up, the promise rejects with a {@linkcode GivenUpError}, unless the item was added again
   *   meanwhile.
   * - If a shutdown drops the item, or the queue is shutting down already, the promise rejects with the code
   *   `WQ_SHUT_DOWN`. After `cancel`, or after `cancelDelayed` if the item has no other pending work, it rejects with
   *   the code `WQ_CANCELLED`.
   *
   * @param item The item.
   * @param options The item's priority, and a `signal` that ends the waiting, but not the work.
   * @returns The result. Nothing is kept for items that nobody awaits.
   * @throws {TypeError} (as a rejection) If an option is unknown or has the wrong type. Then, the item is not added.
   * @throws The signal's reason (as a rejection), if the signal aborts first. If it has aborted before the call, the
   * item is not added.
   * @throws The error that the queue's discipline or `keyOf` throws (as a rejection).
   */
  addAndWait(item: T, options?: AddAndWaitOptions): Promise<R>;

  /**
   * Adds the item after the delay that the limiter returns. Once the queue is shutting down, the item is not added, but
   * the limiter is still called, as in client-go. A drain with `delayed: "flush"` or `"wait"` still accepts retries of
   * items that are processing.
   *
   * @param item The item.
   * @param options The item's priority and its minimum delay.
   * @throws {TypeError} If an option is unknown or has the wrong type. In that case, the limiter is not called.
   * @throws {RangeError} If `minDelay` or `priority` is `NaN` or infinite. In that case, the limiter is not called.
   * @throws The limiter's error, if the limiter throws; an error with the code `WQ_LIMITER`, if the limiter doesn't
   * return a finite number.
   */
  addRateLimited(item: T, options?: RateLimitedAddOptions): void;

  /**
   * Forgets the item's failures. Call this method after the item succeeded or was given up. Forgetting an item resets
   * the limiter's count and the pools' count of attempts. `forget` does not end the work on the item: call `done` or
   * dispose the item's lease for that.
   */
  forget(item: T): void;

  /**
   * Cancels the pending work on an item, and forgets its failures:
   *
   * - A ready, blocked or delayed item is taken out of the queue.
   * - If a pool is running the item's handler, the handler's signal aborts with `reason`. A failure of that attempt is
   *   neither counted nor reported, and the item is not retried. A consumer that took the item with `get` is not
   *   notified.
   * - Adds of a processing item before this call no longer make the item ready again. Later adds do.
   *
   * @param item The item, or another item with the same key.
   * @param reason Reason of the signal. By default, an error with the code `WQ_CANCELLED`.
   * @returns The state in which the item was; `undefined` if there was nothing to cancel. Then, its failures stay.
   * @throws The error that the queue's discipline throws. In that case, nothing has changed.
   */
  cancel(item: T, reason?: unknown): CancelledFrom | undefined;

  /** Returns how many retries of the item the limiter has counted since the item was last forgotten. */
  numRequeues(item: T): number;
}

/** Options of {@linkcode RateLimitingQueue.addAndWait}. */
export interface AddAndWaitOptions extends AddOptions {
  /** Ends the waiting, but not the work. */
  signal?: AbortSignal | undefined;
}

/** State of an item when it was cancelled. For an item that was also delayed, this is its other state. */
export type CancelledFrom = "ready" | "blocked" | "delayed" | "running";

/** Options of {@linkcode RateLimitingQueue.addRateLimited}. */
export interface RateLimitedAddOptions extends AddOptions {
  /**
   * Minimum delay, in milliseconds or as a string such as `"30s"`. The limiter is called as usual, and the longer of
   * the two delays is used.
   *
   * @default {0}
   */
  minDelay?: Duration | undefined;
  /**
   * Time at which the failed attempt began, in milliseconds by the queue's clock. An `ignore-early` limiter judges the
   * failure by this time.
   *
   * @default {now}
   */
  startedAt?: number | undefined;
}

/** Options of {@linkcode createRateLimitingQueue}. */
export interface RateLimitingQueueOptions<T> extends DelayingQueueOptions<T> {
  /**
   * Store in which the queue keeps the items that its pools give up, made by {@linkcode createGivenUpStore}. The
   * program can list kept items with `givenUp`, add them again with `redrive`, and forget them with `discard`. By
   * default, the queue keeps none.
   *
   * A key that is added again, now or with a delay, is no longer given up, so the queue forgets its given-up item.
   */
  keepGivenUp?: GivenUpStore | undefined;
  /**
   * Time from the end of an item's last delay until its failures are forgotten. So keys for which `forget` is never
   * called, such as the keys of deleted objects, don't accumulate. Must be longer than the time from the end of a delay
   * until the end of the attempt after it; otherwise, every failure counts as the first. A limiter without `next`
   * counts calls of `addRateLimited` itself, and decides itself when to forget them.
   *
   * @default {never}
   */
  forgetAfter?: Duration | undefined;
  /**
   * Whether retries go before all other ready items, in a queue that is first in, first out. By default, a retry that
   * is due goes behind every ready item, so its delay is longer the more items are ready. A queue with a discipline has
   * `retryPriority` instead.
   *
   * @default {false}
   */
  retriesFirst?: boolean | undefined;
  /**
   * Priority of retries, for a discipline that uses priorities. A priority that a handler or `addRateLimited` asks for
   * takes precedence.
   *
   * @default {the priority of the item}
   */
  retryPriority?: number | undefined;
}
