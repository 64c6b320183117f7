import type { Duration } from "../base/duration.ts";
import type { AddOptions, WorkQueue, WorkQueueOptions } from "./work_queue.ts";

/**
 * A {@linkcode WorkQueue} to which items can be added after a delay.
 *
 * Made by {@linkcode createDelayingQueue}.
 */
export interface DelayingQueue<T> extends WorkQueue<T> {
  /**
   * Adds the item after the delay, or at once if the delay is zero or negative. If the item is already delayed, the
   * earlier of the two deadlines applies. Does nothing once the queue is shutting down.
   *
   * Items that become due together are made ready in slices of about 10 ms, so that a million of them don't block the
   * event loop. A first-in, first-out queue hands out items between the slices. A queue with a discipline hands out no
   * items until all items that became due together are ready; meanwhile, `snapshot` counts them as `blocked`. With a
   * custom clock or fake timers, there are no slices: all items that are due become ready at once.
   *
   * No item is lost if a discipline or the underlying queue throws when a delay ends. The error is written to
   * `console.error`, at most one line per second. If a discipline refused the item, the item becomes ready anyway.
   * Otherwise, the item is added again one second later. A drain with `delayed: "flush"` rejects with the error, which
   * is then not written to `console.error`.
   *
   * @param item The item.
   * @param delay The delay in milliseconds, or a string such as `"5s"`. There is no upper limit.
   * @param options The item's priority, for a discipline that uses priorities.
   * @throws {RangeError} If `delay` or `priority` is `NaN` or infinite.
   * @throws {TypeError} If `delay` is not a duration, or an option is unknown or has the wrong type.
   */
  addAfter(item: T, delay: Duration, options?: AddOptions): void;

  /**
   * Removes a delayed item. Items that are ready or processing are not affected.
   *
   * @param item The item, or another item with the same key.
   * @returns `true` if the item was delayed, `false` otherwise.
   */
  cancelDelayed(item: T): boolean;

  /** Number of items whose delay has not passed. */
  readonly delayed: number;
}

/**
 * Budget for retries. For all times s < t, the number of retries made ready in (s, t] is at most `ratio` × the number
 * of first attempts begun in (s − 10 s, t] + `minRate` × (t − s) + 1.
 */
export interface RetryBudgetOptions {
  /** Retries for each first attempt of the last ten seconds, such as 0.1. */
  ratio: number;
  /**
   * Retries per second that are always allowed. With 0, a blocked retry waits for first attempts, however long that
   * takes, also in a drain.
   */
  minRate: number;
}

/** Budget for retries whose options can be changed. Made by {@linkcode createRetryBudget}. */
export interface RetryBudget extends Readonly<RetryBudgetOptions> {
  /**
   * Changes the options. They apply to all queues that have this budget, also to retries that are blocked now.
   *
   * @throws {TypeError} If `options` is not an object of the non-negative numbers `ratio` and `minRate`.
   */
  update(options: RetryBudgetOptions): void;
}

/** Options of {@linkcode createDelayingQueue}. */
export interface DelayingQueueOptions<T> extends WorkQueueOptions<T> {
  /**
   * Longest sleep between two checks of deadlines, in milliseconds or as a string such as `"10s"`; from 1 ms to 2^31 -
   * 1 ms. After a suspend, an item is late by at most this duration.
   *
   * @default {10_000}
   */
  maxSleep?: Duration | undefined;
  /**
   * Whether delayed items keep the process alive, and blocked items for which a call or a pool waits. With `false`, the
   * process may exit before delayed items are due and before a pause or a rate lets blocked items through, on runtimes
   * whose timers have `unref`: Deno (2.9 and later), Bun and Node.
   *
   * @default {true}
   */
  ref?: boolean | undefined;
  /**
   * Effect of adding an item that is already delayed:
   *
   * - `"keep"`, as in client-go: the item is handed out twice, now and when its delay ends.
   * - `"replace"`: the item is handed out once, now. The item becomes ready or, if it is processing, is marked as added
   *   again, and its delay is canceled. The higher of the two priorities applies. In addition, `addAfter` sets no delay
   *   for an item that is ready or was added again.
   * - `"fold"`: as with `"replace"`, but an item that failed is handed out once, when its retry is due. Until then,
   *   adding the item changes only the item and its priority, so events don't start attempts before the backoff ends.
   *   The higher of the two priorities applies. Items that were added while the failed attempt was running are treated
   *   in the same way. `forget` and `cancelDelayed` end the effect of a failure, and an earlier `addAfter` brings the
   *   retry forward. If a shutdown drops delayed items, items that were added during the backoff become ready instead,
   *   so no event is lost. Only failures in a pool of {@linkcode runWorkers} count: after calls to `addRateLimited`,
   *   an add has the same effect as with `"replace"`.
   *
   * @default {"keep"}
   */
  addWhileDelayed?: "keep" | "replace" | "fold" | undefined;
  /**
   * Budget for retries, made by {@linkcode createRetryBudget}: a retry that is due becomes ready only if there is
   * budget. Until then, it is blocked, in order, and takes no worker. No limit by default.
   *
   * A retry is an item that was delayed by `addRateLimited`: by a pool, after a failure or because of `requeue`, or by
   * your own code. All other attempts are first attempts, such as the attempt after an add of a processing item. If a
   * blocked retry is added, it becomes ready at once, as a first attempt, unless `addWhileDelayed` is `"fold"`. A drain
   * waits for blocked retries; with `delayed: "flush"`, it makes them ready at once, as first attempts.
   */
  retryBudget?: RetryBudget | undefined;
  /**
   * Called for every delayed item that a shutdown or an aborted drain drops, in no particular order, so that you can
   * save it. All calls are made before `shutDown` returns or, if a signal ends the drain, before the call to `abort()`
   * returns. Ready items are not dropped: they are still handed out. An error that the callback throws is written to
   * `console.error`, and the callback is still called for the other items.
   *
   * @example Save what is left
   * ```ts
   * import { createDelayingQueue } from "@workqueue/core";
   * import { assertEquals } from "@std/assert";
   *
   * const left: string[] = [];
   * const queue = createDelayingQueue<string>({ onDrop: (item) => left.push(item) });
   * queue.addAfter("a", "10m");
   * queue.add("b");
   * queue.shutDown();
   * assertEquals([left, queue.length], [["a"], 1]);
   * ```
   */
  onDrop?: ((item: T) => void) | undefined;
}
