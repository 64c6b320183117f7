import type { SOURCE } from "../base/brands.ts";
import type { Clock } from "../base/clock.ts";
import type { GiveUpReason } from "./handler.ts";
import type { MetricsProvider } from "./metrics.ts";
import type { Throttle } from "./throttle.ts";
import type { Lease, Shutdown } from "./work_queue.ts";

/**
 * A queue that offers pools its own source of work, through its `[Symbol.for("workqueue.source")]` method. To implement
 * such a queue, import the symbol as `SOURCE` from `@workqueue/core/hooks`.
 */
export interface SourcedQueue<T> {
  /** Opens a source for one pool. `runWorkers` calls this method once. */
  [SOURCE](): WorkSource<T>;
}

/**
 * Connection between a pool of {@linkcode runWorkers} and a queue. The source supplies items and carries out the pool's
 * decisions on them.
 *
 * The pool decides which failed items are given up, which attempts were interrupted, and how many handlers may start.
 * The source carries out the pool's decisions. For each lease, the pool calls `finish` once and then disposes the
 * lease. If `finish` already ended the lease, disposing it does nothing. If a lease is disposed without a call to
 * `finish`, its item was not processed and goes back to the queue.
 *
 * Every member is required: a pool does not start on a source that lacks one. `baseSource` from
 * `@workqueue/core/hooks` has the members that most sources don't need.
 */
export interface WorkSource<T> {
  /** Name of the queue. */
  readonly name: string;

  /** Clock of the pool, unless the pool has its own `clock` option; `undefined` for the system clock. */
  readonly clock: Clock | undefined;

  /**
   * Receives the pool's metrics, under the queue's name. If this property is `undefined` or the name is empty, the pool
   * has no metrics.
   */
  readonly metrics: MetricsProvider | undefined;

  /** Returns a lease that is available now; `undefined` if there is none. If this method throws, the pool ends. */
  tryTake(): WorkLease<T> | undefined;

  /**
   * Waits for leases. The promise resolves to the first lease. Leases that arrive together with the first lease are
   * returned by `tryTake`, which the pool calls as long as more handlers may start. At most one call to `take` is
   * pending at a time.
   *
   * @returns The lease, or `Shutdown` when no more leases will come.
   * @throws The signal's reason (as a rejection), if the signal aborts first. The source gives back leases that arrive
   * after the abort. If the promise had already resolved to a lease, the pool gives that lease back. Any other
   * rejection ends the pool.
   */
  take(request: WorkRequest): Promise<WorkLease<T> | Shutdown>;

  /**
   * Gives back the leases that arrived but were not taken with `tryTake`. The pool calls this method when it starts no
   * more handlers for now, because it is paused, stopped or full.
   */
  giveBackUnused(): void;

  /**
   * Returns the number of the attempt at a lease's item that begins now, starting at 1. Returns `undefined` if none may
   * begin: the lease is lost, and the source has handed the item back. The pool calls this method once for each lease,
   * just before it calls the handler, because a process can be frozen at any time between two turns of the event loop.
   * If this method throws, the pool ends.
   */
  attemptOf(lease: WorkLease<T>): number | undefined;

  /**
   * Carries out the pool's decision on an item. The pool continues at once, without waiting for the result.
   *
   * @param attempt The attempt that ended or, if the item is handed back before its attempt began, the attempt that
   * would have started.
   * @param ending The decision on the item.
   * @param report Receives errors that don't change the ending.
   * @returns Nothing if the ending has been carried out; otherwise a promise, which the pool awaits before the pool
   * ends. The promise resolves to `true` or `undefined` when the ending has been carried out, and to `false` if the
   * lease was lost and the ending doesn't count. The promise resolves to another ending if that was carried out
   * instead: the item was given up because its limiter threw, it is retried after all, as for `mayRetry`, or it was
   * cancelled before the pool was told. The pool reports both a lost lease and an item that was given up for this
   * reason as errors. The pool also reports a rejection of the promise, which means that the result is unknown.
   * @throws If the lease can't be ended in this way. In that case, nothing has changed. If the handler requested the
   * ending (`requeue`, `requeueAfter`) or was interrupted (`handedBack`), the pool then treats the attempt as failed.
   * If the attempt had already failed, the pool gives the item up.
   */
  finish(
    attempt: WorkAttempt<T>,
    ending: Ending,
    report: (error: unknown, attempt: WorkAttempt<T>) => void,
  ): void | Promise<void | boolean | GivenUpEnding | FailedEnding | CancelledEnding>;

  /**
   * Called before the pool gives an item up, because it has failed and the number of the attempt is larger than
   * `maxRetries`. Reports whether the item may be retried nevertheless: this failure is not counted, or earlier ones
   * were forgotten during the attempt, so that there are fewer than `maxRetries` now. A source that can't tell yet
   * returns `false`, and may retry the item in `finish`, after `minDelay` at the earliest.
   */
  mayRetry(attempt: WorkAttempt<T>, limits: RetryLimits): boolean;

  /**
   * Hands out no item of the attempt's group, or no item at all, for the given number of milliseconds. Reports whether
   * that is possible. If not, a `RetryAfterError` delays only its item.
   */
  pause(attempt: WorkAttempt<T>, scope: "group" | "queue", ms: number): boolean;

  /**
   * Called when an attempt times out while its handler still runs. The item counts as failing from now on. `finish`
   * follows when the handler ends.
   */
  timedOut(attempt: WorkAttempt<T>): void;

  /**
   * Reports whether the source now takes the item back for this reason, to hand it out again. If not, a failed item is
   * given up, `requeue` means plain success, and the pool processes an item instead of handing it back.
   */
  takesBack(attempt: WorkAttempt<T>, reason: "requeue" | "failed" | "handedBack"): boolean;

  /**
   * Reports whether each lease comes with a permit of this throttle, because several processes share the throttle. If
   * not, the pool acquires the permits itself.
   */
  takesPermits(throttle: Throttle): boolean;

  /**
   * Returns the throttle from which the pool acquires permits instead of the given one, because several processes share
   * it; `undefined` if each process has its own throttle.
   */
  sharedThrottle(throttle: Throttle): Throttle | undefined;

  /**
   * Whether items arrive only after a call of `take`. A pool with a `throttle` then waits with `take` while `length` is
   * 0. Items that wait for a permit when `watch` says that the source `isOver` are handed back.
   */
  readonly isRemote: boolean;

  /**
   * Number of items that `tryTake` would return now. A pool with a `throttle` then asks for a permit only while there
   * is an item. If the number is `"unknown"`, the pool asks for a permit, and ends it unused if there is no item.
   */
  readonly length: number | "unknown";

  /** Whether no more items will come after the ready ones. */
  readonly isOver: boolean;

  /** Whether the queue is paused, as far as this process knows. The printed pool says so. */
  readonly isPaused: boolean;

  /**
   * Whether an item may become ready although the source has returned `Shutdown`: an item that was added again while it
   * is processing, or a blocked item. The pool doesn't end while this property is `true`. The pool checks the property
   * again each time `watch` calls back.
   */
  readonly mayComeBack: boolean;

  /**
   * Calls `callback` when `length`, `isOver` or `mayComeBack` may have changed. Returns an unsubscribe function.
   */
  watch(callback: () => void): () => void;

  /**
   * Calls `callback` when something happens to an item on which the pool may be working. Returns an unsubscribe
   * function.
   *
   * @param tellsAdds Whether the pool must be told that an item was added again.
   */
  watchHeld(callback: (news: HeldNews) => void, tellsAdds: boolean): () => void;

  /**
   * Calls `callback` for each item that is given up outside an attempt of this pool, because every process that worked
   * on it was lost. For each item, only one of the queue's pools is notified. Returns an unsubscribe function.
   */
  watchGivenUp(callback: (given: GivenUpItem<T>) => void): () => void;

  /** Reports whether an item that failed will still be retried, as far as this process knows. */
  isFailing(key: unknown, item: T): boolean;

  /** Number of items that failed and will be retried, whichever pool tried them. */
  readonly failing: number | "unknown";

  /**
   * Calls `callback` with the key of each failing item that is no longer failing, for example because the queue's
   * `forget` was called. Returns an unsubscribe function.
   */
  watchForgotten(callback: (key: unknown) => void): () => void;

  /**
   * Returns the time until a delayed item is due, in milliseconds; `undefined` if the item is not delayed or this
   * process doesn't know the time.
   */
  dueInMs(item: T): number | undefined;
}

/** Something that has happened to an item while it is processing. */
export interface HeldNews {
  /** Key of the item. */
  readonly key: unknown;
  /** `"cancelled"`: the queue's `cancel` was called for the item. `"addedAgain"`: the item was added. */
  readonly kind: "cancelled" | "addedAgain";
  /** Reason with which the signal of a cancelled attempt aborts. */
  readonly reason?: unknown;
}

/** Limits of a pool on retries of an item. */
export interface RetryLimits {
  /** Maximum number of retries. */
  readonly maxRetries: number;
  /** Minimum delay of the retry, in milliseconds. */
  readonly minDelay: number;
}

/** A given-up item and the reason. */
export interface GivenUpItem<T> {
  /** The item. */
  readonly item: T;
  /** Its key. */
  readonly key: unknown;
  /** Number of attempts. */
  readonly attempts: number;
  /** The last error. */
  readonly error: unknown;
  /** The reason for giving the item up. */
  readonly reason: GiveUpReason;
}

/** Request from a pool that waits for leases. */
export interface WorkRequest {
  /** Aborts when the pool no longer wants leases. */
  readonly signal: AbortSignal;
  /**
   * Returns the maximum number of leases wanted: one for each handler that may start now. The number may change during
   * the wait.
   */
  wanted(): number;
  /**
   * Throttle that must grant a permit for each lease; `undefined` unless the pool has a throttle and the source's
   * `takesPermits` returned `true` for it.
   */
  readonly throttle: Throttle | undefined;
}

/** A lease that can be lost if its queue is outside this process. */
export interface WorkLease<T> extends Lease<T> {
  /** Key of the item. */
  readonly key: unknown;
  /**
   * Aborts when the lease is lost, with the reason for the loss. The handler's signal aborts too. Once the lease is
   * lost, `finish` resolves to `false`.
   */
  readonly signal?: AbortSignal | undefined;
  /** Fencing token, which the handler receives as `context.token`. */
  readonly token?: bigint | undefined;
  /** Traceparent of the span that added the item, which the handler receives as `context.trace`. */
  readonly trace?: string | undefined;
}

/** An attempt of a pool, as seen by its source. */
export interface WorkAttempt<T> {
  /** The right to work on the item. */
  readonly lease: WorkLease<T>;
  /** The item's key. */
  readonly key: unknown;
  /** Number of the attempt, as returned by `attemptOf`. */
  readonly number: number;
}

/**
 * Decision on an item whose attempt has ended:
 *
 * - `"succeeded"`: its failures are forgotten; `result` is what its handler returned;
 * - `"requeueAfter"`: its failures are forgotten, and it is added again after `delay` milliseconds;
 * - `"requeue"`: it is added again after the limiter's delay, and the attempt is counted;
 * - `"failed"`: as for `"requeue"`, but the item is added again no sooner than after `minDelay` milliseconds;
 * - `"givenUp"`: its failures are forgotten, and it is not retried;
 * - `"handedBack"`: it is ready again with its earlier priority, and the attempt is not counted;
 * - `"cancelled"`: the queue's `cancel` was called during the attempt, so its failures are forgotten, and it is not
 *   retried, whatever its handler did.
 *
 * An item that is added again keeps the priority of its lease unless `priority` is given. A source without priorities
 * throws an error if `priority` is given.
 */
export type Ending =
  | { readonly kind: "succeeded"; readonly result?: unknown }
  | { readonly kind: "requeueAfter"; readonly delay: number; readonly priority?: number | undefined }
  | { readonly kind: "requeue"; readonly priority?: number | undefined }
  | FailedEnding
  | GivenUpEnding
  | { readonly kind: "handedBack" }
  | CancelledEnding;

/** The {@linkcode Ending} of an item that was cancelled during its attempt. */
export interface CancelledEnding {
  /** Distinguishes this ending from the others. */
  readonly kind: "cancelled";
}

/** The {@linkcode Ending} of an item that failed and is retried. */
export interface FailedEnding {
  /** Distinguishes this ending from the others. */
  readonly kind: "failed";
  /** The failure. */
  readonly error: unknown;
  /** Minimum delay of the retry, in milliseconds. */
  readonly minDelay: number;
}

/** The {@linkcode Ending} of an item that is given up. */
export interface GivenUpEnding {
  /** Distinguishes this ending from the others. */
  readonly kind: "givenUp";
  /** The last failure. */
  readonly error: unknown;
  /** The reason for giving the item up. */
  readonly reason: GiveUpReason;
}
