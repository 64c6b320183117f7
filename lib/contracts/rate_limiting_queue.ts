import type { Duration } from "../base/duration.ts";
import type { DelayingQueue, DelayingQueueOptions } from "./delaying_queue.ts";
import type { AddOptions } from "./work_queue.ts";

/**
 * A {@linkcode DelayingQueue} for items that failed: the limiter says how long each waits until it is tried
 * again.
 *
 * Made by {@linkcode createRateLimitingQueue}; {@linkcode runWorkers} makes the calls for you.
 */
export interface RateLimitingQueue<T> extends DelayingQueue<T> {
  /**
   * Adds the item once the limiter says it may be. Once the queue is shutting down it is not added; the limiter is
   * asked all the same, as in client-go. A drain with `delayed: "flush"` or `"wait"` still takes an item that is held:
   * its retry.
   *
   * @param item The item.
   * @param options The item's priority, and how long it waits at least.
   * @throws {TypeError} If an option is unknown or not what it should be. The limiter was not asked then.
   */
  addRateLimited(item: T, options?: RateLimitedAddOptions): void;

  /**
   * Says that the item needs no more retries, as it succeeded or was given up: the limiter starts afresh
   * with it, and so do pools that count its attempts. The item still has to be given back by `done` or its lease.
   */
  forget(item: T): void;

  /** How many times the item was added by `addRateLimited` since it was last forgotten, as the limiter counts. */
  numRequeues(item: T): number;
}

/** What is said of an item when it is added through the limiter. */
export interface RateLimitedAddOptions extends AddOptions {
  /**
   * How long the item waits at least, in milliseconds or as a text such as `"30s"`: the limiter is asked as always, and
   * the longer delay counts.
   *
   * @default {0}
   */
  minDelay?: Duration | undefined;
}

/** The options of {@linkcode createRateLimitingQueue}. */
export interface RateLimitingQueueOptions<T> extends Omit<DelayingQueueOptions<T>, "queue"> {
  /**
   * The queue to add to. By default a new {@linkcode createDelayingQueue} with the other options, which are
   * of no use beside a queue of your own, but for `name` and `keyOf`: give `onDrop` to that queue.
   */
  queue?: DelayingQueue<T> | undefined;
}
