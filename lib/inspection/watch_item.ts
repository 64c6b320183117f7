/**
 * Calls a function for each change of an item's state, for example to show the progress of a job on a page.
 *
 * @example Usage
 * ```ts
 * import { createExponentialLimiter, createRateLimitingQueue } from "@workqueue/core";
 * import { watchItem } from "@workqueue/core/watch";
 *
 * const limiter = createExponentialLimiter({ baseDelay: "1ms", maxDelay: "1s" });
 * using queue = createRateLimitingQueue<string>(limiter);
 * using _watch = watchItem(queue, "report", (event) => console.log(event.state));
 * ```
 *
 * @module
 */

import { A_FUNCTION, requireRule } from "../base/arguments.ts";
import { INSPECTION } from "../base/brands.ts";
import { invalidArgument } from "../base/errors.ts";
import type { ItemEvent } from "../contracts/item_event.ts";
import type { InspectedQueue, KeyListener } from "../contracts/queue_inspection.ts";
import { listen } from "../metrics/key_times.ts";
import type { HandOutEnding, KeyEnds } from "../queue/awaited_keys.ts";
import type { LimitedQueue } from "../queue/limited_queue.ts";
import { ItemCallbacks } from "../structures/item_callbacks.ts";

export type { GiveUpReason } from "../contracts/handler.ts";
export type * from "../contracts/item_event.ts";

/** Queue whose items can be watched: one made by `createRateLimitingQueue`, in a file, or on Redis. */
export interface WatchableQueue<T, R> {
  /** Cancels the pending work on an item. */
  cancel(item: T, reason?: unknown): unknown;
  /** Adds an item, and waits for the result of the work on it. */
  addAndWait?(item: T): Promise<R>;
}

const ACTION = "watch item";

/**
 * Calls `callback` for each change of the state of an item: see {@linkcode ItemEvent}. Use it to show the progress of
 * an item on a page or in a terminal. The callback is called in a microtask after the change, in the order of the
 * changes.
 *
 * A queue in memory tells of all its changes. A queue that processes share tells only of the attempts of this queue
 * object. Queues whose items nobody watches don't pay for this, and programs that don't call this function don't
 * contain its code.
 *
 * @example Usage
 * ```ts
 * import { createExponentialLimiter, createRateLimitingQueue, runWorkers } from "@workqueue/core";
 * import { watchItem } from "@workqueue/core/watch";
 * import { assertEquals } from "@std/assert";
 *
 * const limiter = createExponentialLimiter({ baseDelay: "1ms", maxDelay: "1s" });
 * using queue = createRateLimitingQueue<string>(limiter);
 * const states: string[] = [];
 * using _watch = watchItem(queue, "a", ({ state }) => states.push(state));
 * runWorkers(queue, (_item, { attempt }) => {
 *   if (attempt === 1) throw new Error("try again");
 * }, { onError() {} });
 *
 * await queue.addAndWait("a");
 * assertEquals(states, ["ready", "started", "failed", "ready", "started", "done"]);
 * ```
 *
 * @typeParam T The type of the items.
 * @typeParam R The type of the results.
 * @param queue The queue.
 * @param item The item, or another item with the same key. It doesn't have to be in the queue.
 * @param callback Receives the events. If it throws, the error is written to `console.error`.
 * @returns A function that ends the watch, which is also its `[Symbol.dispose]`.
 * @throws {TypeError} If the queue has no limiter, or `callback` is not a function.
 * @throws The error that the queue's `keyOf` throws.
 */
export function watchItem<T, R>(
  queue: WatchableQueue<T, R>,
  item: T,
  callback: (event: ItemEvent<R>) => void,
): (() => void) & Disposable {
  requireRule(ACTION, "callback", callback, A_FUNCTION);
  const inspected = (queue as InspectedQueue | null | undefined)?.[INSPECTION];
  const tell = callback as (event: ItemEvent) => void;
  const end = inspected !== undefined && "watchItem" in inspected
    ? inspected.watchItem(item, tell)
    : watchedKeysOf(queue, inspected as LimitedQueue<T> | undefined).watch(item, tell);
  return Object.assign(() => end(), { [Symbol.dispose]: end });
}

/** Returns the watched keys of a queue in memory. Creates them if the queue has none. */
function watchedKeysOf<T>(given: unknown, queue: LimitedQueue<T> | undefined): WatchedKeys<T> {
  if (queue?.watchEnds === undefined) {
    throw invalidArgument(ACTION, "queue", "must be a rate limiting queue, or one in a file or on Redis", given);
  }
  const ends = queue.watchEnds();
  return ends instanceof WatchedKeys ? ends : new WatchedKeys(queue, ends);
}

/** State of a watched key. */
interface WatchedKey {
  /** Number of the latest attempt. */
  attempt: number;
  /** Ending of the current hand-out; `undefined` until it is known. */
  ending: HandOutEnding | undefined;
  /** Whether the key became ready when its hand-out ended, which is reported after the ending. */
  comesBack: boolean;
  /** Whether the latest event was not the last one of the work on the item, as far as is known. */
  isOpen: boolean;
}

/** Keys of a queue in memory that are watched. Passes everything on to the calls of `addAndWait`. */
class WatchedKeys<T> implements KeyEnds, KeyListener {
  readonly #queue: LimitedQueue<T>;
  readonly #ends: KeyEnds;
  readonly #callbacks: ItemCallbacks;
  readonly #keys = new Map<unknown, WatchedKey>();
  readonly #stop: () => void;

  constructor(queue: LimitedQueue<T>, ends: KeyEnds) {
    this.#queue = queue;
    this.#ends = ends;
    this.#callbacks = new ItemCallbacks(() => queue.time.now());
    queue.ends = this;
    this.#stop = listen(queue, () => this);
  }

  /** Adds a callback for an item. Returns an unsubscribe function. */
  watch(item: T, callback: (event: ItemEvent) => void): () => void {
    const key = this.#queue.key(item);
    const end = this.#callbacks.add(key, callback);
    if (!this.#keys.has(key)) {
      const attempt = this.#nextAttempt(key);
      this.#keys.set(key, { attempt, ending: undefined, comesBack: false, isOpen: true });
    }
    return () => {
      end();
      if (!this.#callbacks.has(key)) this.#keys.delete(key);
      if (this.#keys.size > 0 || this.#queue.ends !== this) return;
      this.#queue.ends = this.#ends;
      this.#stop();
    };
  }

  /** Tells the callbacks of a key. */
  #tell(key: unknown, watched: WatchedKey, event: ItemEvent, isOpen: boolean): void {
    watched.isOpen = isOpen;
    this.#callbacks.tell(key, event);
  }

  #nextAttempt(key: unknown): number {
    const { failures, records } = this.#queue;
    return failures.countOf(records.of(key)) + 1;
  }

  added(key: unknown): void {
    const watched = this.#keys.get(key);
    if (watched !== undefined) this.#tell(key, watched, { state: "ready" }, true);
  }

  addedAgain(): void {}

  unmarked(): void {}

  ready(key: unknown): void {
    const watched = this.#keys.get(key);
    if (watched !== undefined) watched.comesBack = true;
  }

  taken(key: unknown): void {
    const watched = this.#keys.get(key);
    if (watched === undefined) return;
    watched.attempt = this.#nextAttempt(key);
    this.#tell(key, watched, { state: "started", attempt: watched.attempt }, true);
  }

  finished(): void {}

  wait(key: unknown, isProcessing: boolean, signal: AbortSignal | undefined): Promise<unknown> {
    return this.#ends.wait(key, isProcessing, signal);
  }

  note(key: unknown, ending: HandOutEnding): void {
    const watched = this.#keys.get(key);
    if (watched !== undefined) watched.ending = ending;
    this.#ends.note(key, ending);
  }

  ended(key: unknown, isPending: boolean, failure: () => Error): void {
    const watched = this.#keys.get(key);
    if (watched !== undefined) {
      const { attempt, ending, comesBack, isOpen } = watched;
      watched.ending = undefined;
      watched.comesBack = false;
      const event = isOpen ? eventOf(attempt, ending, comesBack ? 0 : this.#dueInMs(key)) : undefined;
      if (event !== undefined) this.#tell(key, watched, event, isPending);
      if (comesBack) this.#tell(key, watched, { state: "ready" }, true);
    }
    this.#ends.ended(key, isPending, failure);
  }

  #dueInMs(key: unknown): number | undefined {
    const { records, time } = this.#queue;
    const dueAt = this.#queue.dueAtOf(records.of(key));
    return dueAt === undefined ? undefined : Math.max(dueAt - time.now(), 0);
  }

  reject(key: unknown, failure: () => Error): void {
    const watched = this.#keys.get(key);
    if (watched !== undefined) this.#tell(key, watched, { state: "cancelled", error: failure() }, false);
    this.#ends.reject(key, failure);
  }

  rejectLost(isPending: (key: unknown) => boolean, failure: () => Error): void {
    for (const [key, watched] of this.#keys) {
      if (watched.isOpen && !isPending(key)) {
        this.#tell(key, watched, { state: "cancelled", error: failure() }, false);
      }
    }
    this.#ends.rejectLost(isPending, failure);
  }
}

/** Returns the event of a hand-out that has ended; `undefined` if the item is ready again, or was cancelled. */
function eventOf(
  attempt: number,
  ending: HandOutEnding | undefined,
  retryInMs: number | undefined,
): ItemEvent | undefined {
  if (ending === undefined) return { state: "done", attempt, result: undefined };
  switch (ending.kind) {
    case "failed":
      return { state: "failed", attempt, error: ending.error, retryInMs };
    case "kept":
    case "requeue":
      return { state: "requeued", attempt, retryInMs };
    case "succeeded":
      return { state: "done", attempt, result: ending.result };
    case "requeueAfter":
      return { state: "done", attempt, result: undefined };
    case "givenUp":
      return { state: "givenUp", attempt, error: ending.error, reason: ending.reason };
    case "handedBack":
    case "cancelled":
      return undefined;
  }
}
