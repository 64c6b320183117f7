import type { DelayingQueue, DelayingQueueOptions } from "./delaying_queue.ts";

/**
 * A {@linkcode DelayingQueue} for items that failed: the limiter says how long each waits until it is tried
 * again.
 *
 * Made by {@linkcode createRateLimitingQueue}; {@linkcode runWorkers} makes the calls for you.
 */
export interface RateLimitingQueue<T> extends DelayingQueue<T> {
  /**
   * Adds the item once the limiter says it may be. Once the queue is shutting down it is not added; the limiter is
   * asked all the same, as in client-go. A drain with `waiting: "wait"` still takes an item that is held: its retry.
   */
  addRateLimited(item: T): void;

  /**
   * Says that the item needs no more retries, as it succeeded or was given up: the limiter starts afresh
   * with it, and so do pools that count its attempts. The item still has to be given back by `done` or its lease.
   */
  forget(item: T): void;

  /** How many times the item was added by `addRateLimited` since it was last forgotten, as the limiter counts. */
  numRequeues(item: T): number;
}

/** The options of {@linkcode createRateLimitingQueue}. */
export interface RateLimitingQueueOptions<T> extends Omit<DelayingQueueOptions<T>, "queue"> {
  /**
   * The queue to add to. By default a new {@linkcode createDelayingQueue} with the other options, which are
   * of no use beside a queue of your own, but for `name` and `keyOf`.
   */
  queue?: DelayingQueue<T> | undefined;
}
