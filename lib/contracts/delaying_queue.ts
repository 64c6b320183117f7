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
   * Items that become due at once are made ready in slices of about 10 ms, so that a million of them don't block the
   * event loop. A first in, first out queue hands out items between the slices. A queue with a discipline hands out
   * nothing until all of them are ready, and `snapshot` counts them as `blocked` meanwhile. With a clock of your own,
   * or under fake timers, there are no slices.
   *
   * No item is lost if a discipline or the queue below throws when a delay ends. The error is written to
   * `console.error`, one line a second at most. The item is ready all the same if a discipline refused it; otherwise it
   * is added again a second later. During a drain that flushes, the drain rejects with the error instead.
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
  cancelDelayed(item: T): boolean;

  /** The number of items whose delay has not passed. */
  readonly delayed: number;
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
  maxSleep?: Duration | undefined;
  /**
   * Whether items that wait keep the process alive. `false` lets it exit before they are due, on runtimes
   * whose timers have `unref`: Deno (2.9 and later), Bun and Node.
   *
   * @default {true}
   */
  ref?: boolean | undefined;
  /**
   * What an item can be while it waits. With `"keep"`, client-go's way, an item that waits can be added as well: it
   * comes twice, now and when it is due. With `"replace"`, it is ready (or added again while it is held) or it waits,
   * and never both: now beats later, whichever came first, with the higher of the two priorities.
   *
   * @default {"keep"}
   */
  addWhileDelayed?: "keep" | "replace" | undefined;
  /**
   * Is called for every delayed item that a shutdown or an aborted drain drops, in no particular order, so that it can
   * be saved. All calls are made before `shutDown`, or the `abort` of the drain's signal, returns. Ready items are not
   * dropped: they are still handed out. An error that the callback throws is written to `console.error`, and the other
   * items are told all the same.
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
