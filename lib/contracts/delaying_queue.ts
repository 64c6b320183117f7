import type { Duration } from "../base/duration.ts";
import type { WorkQueue, WorkQueueOptions } from "./work_queue.ts";

/**
 * A {@linkcode WorkQueue} that takes items now and makes them ready later.
 *
 * Made by {@linkcode createDelayingQueue}.
 */
export interface DelayingQueue<T> extends WorkQueue<T> {
  /**
   * Adds the item once the delay has passed; at once if the delay is zero or negative. An item that is
   * waiting already keeps the earlier of its two deadlines. Ignored once the queue is shutting down.
   *
   * @param item The item.
   * @param delay Milliseconds, or a text such as `"5s"`. There is no upper limit.
   * @throws {RangeError} If `delay` is `NaN` or infinite.
   * @throws {TypeError} If `delay` is no duration.
   */
  addAfter(item: T, delay: Duration): void;

  /** The number of items whose delay has not passed. */
  readonly waiting: number;
}

/** The options of {@linkcode createDelayingQueue}. */
export interface DelayingQueueOptions<T> extends WorkQueueOptions<T> {
  /**
   * The queue to add to. By default a new {@linkcode createWorkQueue} with the other options; `discipline`
   * is of no use beside a queue of your own.
   */
  queue?: WorkQueue<T> | undefined;
  /**
   * The longest time until the deadlines are looked at again, in milliseconds or as a text such as `"10s"`: what an
   * item can be late by after the machine slept. From 1 to 2^31 - 1 ms.
   *
   * @default {10_000}
   */
  maxWait?: Duration | undefined;
  /**
   * Whether items that wait keep the process alive. `false` lets it exit before they are due, on runtimes
   * whose timers have `unref`: Deno (2.9 and later), Bun and Node.
   *
   * @default {true}
   */
  ref?: boolean | undefined;
}
