import type { Duration } from "../base/duration.ts";
import type { AddOptions, WorkQueue, WorkQueueOptions } from "./work_queue.ts";

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
   * @param options The item's priority, for a discipline that looks at it.
   * @throws {RangeError} If `delay` is `NaN` or infinite.
   * @throws {TypeError} If `delay` is no duration, or an option is unknown or not what it should be.
   */
  addAfter(item: T, delay: Duration, options?: AddOptions): void;

  /**
   * Takes back what was added with a delay that has not passed. What is ready or being processed stays as it is.
   *
   * @param item The item, or another one with its key.
   * @returns Whether the item was waiting.
   */
  cancelAfter(item: T): boolean;

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
  /**
   * What an item can be while it waits. With `"keep"`, client-go's way, an item that waits can be added as well: it comes
   * twice, now and when it is due. With `"replace"`, it is ready (or added again while it is held) or it waits, and never
   * both: now beats later, whichever came first, with the higher of the two priorities.
   *
   * @default {"keep"}
   */
  whileWaiting?: "keep" | "replace" | undefined;
}
