/**
 * Layer 2: a work queue to which items can be added after a delay.
 *
 * @module
 */

import { requireTimeout } from "../base/arguments.ts";
import { type Clock, systemClock, unref } from "../base/clock.ts";
import { invalidArgument } from "../base/errors.ts";
import type { DelayingQueue, DelayingQueueOptions } from "../contracts/delaying_queue.ts";
import type { Counter } from "../contracts/metrics.ts";
import type { DrainOptions, WorkQueue } from "../contracts/work_queue.ts";
import { DeadlineHeap } from "../structures/deadline_heap.ts";
import { Waiters } from "../structures/waiters.ts";
import { newest } from "./newest.ts";
import { QueueLayer } from "./queue_layer.ts";
import { createWorkQueue } from "./work_queue.ts";

export type * from "../contracts/delaying_queue.ts";
export * from "./work_queue.ts";

/**
 * Makes a {@linkcode DelayingQueue}.
 *
 * @example Usage
 * ```ts
 * import { createDelayingQueue } from "@workqueue/core";
 * import { FakeTime } from "@std/testing/time";
 * import { assertEquals } from "@std/assert";
 *
 * using time = new FakeTime();
 * using queue = createDelayingQueue<string>();
 * queue.addAfter("later", 2000);
 * queue.addAfter("sooner", 1000);
 *
 * time.tick(1000);
 * assertEquals(queue.tryGet()?.item, "sooner");
 * assertEquals(queue.waiting, 1);
 * ```
 *
 * @typeParam T The type of the items.
 * @param options The queue's options; all may be left out.
 * @returns An empty queue.
 * @throws {RangeError} If `maxWait` is out of its bounds.
 * @throws {TypeError} If `queue` is no work queue.
 */
export function createDelayingQueue<T>(options: DelayingQueueOptions<T> = {}): DelayingQueue<T> {
  return new DeadlineQueue(options);
}

const DEFAULT_MAX_WAIT = 10_000;
const DRAIN_POLICIES = ["drop", "flush", "wait"];

class DeadlineQueue<T> extends QueueLayer<T, WorkQueue<T>> implements DelayingQueue<T> {
  readonly #clock: Clock;
  readonly #maxWait: number;
  readonly #ref: boolean;
  readonly #retries: Counter | undefined;
  /** The keys that wait, by deadline; and where each of them is in there. */
  readonly #heap = new DeadlineHeap<unknown>();
  readonly #slots = new Map<unknown, number>();
  /** The newest item of each key that waits, where an item is not its own key. */
  readonly #items: Map<unknown, T> | undefined;
  /** Those who wait in `shutDownWithDrain`. */
  readonly #drainers = new Waiters<void>();
  /** Whether adds are refused although the queue below still takes some: those of items that wait. */
  #draining = false;
  #timer: unknown = undefined;
  /** What the timer is set for; infinity while there is none. */
  #wakeAt = Infinity;

  constructor(options: DelayingQueueOptions<T>) {
    const { queue, clock = systemClock, metrics, maxWait = DEFAULT_MAX_WAIT, ref = true } = options;
    if (queue !== undefined && typeof queue?.add !== "function") {
      throw invalidArgument("create delaying queue", "queue", "must be a work queue", queue);
    }
    super(queue ?? createWorkQueue(options), options);
    if (this.keyOf !== undefined) this.#items = new Map();
    this.#clock = clock;
    this.#maxWait = requireTimeout("create delaying queue", "maxWait", maxWait);
    this.#ref = ref;
    this.#retries = this.name === "" ? undefined : metrics?.retries(this.name);
  }

  get waiting(): number {
    return this.#heap.length;
  }

  override get shuttingDown(): boolean {
    return this.#draining || this.below.shuttingDown;
  }

  override add(item: T): void {
    if (this.#draining) return;
    // The newest item with a key is the one handed out: an older one that waits must not come after it.
    if (this.#items !== undefined && this.#items.size > 0) {
      const key = this.key(item);
      if (this.#items.has(key)) this.#items.set(key, item = this.#newest(key, item));
    }
    this.below.add(item);
  }

  addAfter(item: T, delayMs: number): void {
    if (!Number.isFinite(delayMs)) {
      throw invalidArgument("add item", "delayMs", "must be a finite number of milliseconds", delayMs);
    }
    if (this.shuttingDown) return;
    if (delayMs <= 0) this.add(item);
    else this.#wait(item, this.#clock.now() + delayMs);
    this.#retries?.inc();
  }

  override shutDown(): void {
    this.#forgetWaiting();
    this.below.shutDown();
    this.#drainers.serveAll();
  }

  override shutDownWithDrain(options: DrainOptions = {}): Promise<void> {
    if (typeof options !== "object") {
      return Promise.reject(invalidArgument("drain queue", "options", "must be an object", options));
    }
    const { waiting = "drop" } = options;
    if (!DRAIN_POLICIES.includes(waiting)) {
      const rule = `must be one of ${DRAIN_POLICIES.map((policy) => `"${policy}"`).join(", ")}`;
      return Promise.reject(invalidArgument("drain queue", "waiting", rule, waiting));
    }
    this.#draining = true;
    if (waiting === "flush") this.#makeReady(Infinity);
    if (waiting !== "wait") this.#forgetWaiting();
    const drained = this.#drainers.wait();
    this.#drainWhenNoneWait();
    return drained;
  }

  #wait(item: T, deadline: number): void {
    const key = this.key(item);
    this.#items?.set(key, this.#newest(key, item));
    const slot = this.#slots.get(key);
    if (slot === undefined) this.#slots.set(key, this.#heap.push(key, deadline));
    else this.#heap.decrease(slot, deadline);
    this.#setTimer();
  }

  /** Of an item that is being worked on and added again, the newest one with its key; of any other, itself. */
  #newest(key: unknown, item: T): T {
    const newestBelow = this[newest](item);
    if (newestBelow === undefined) return item;
    return this.#items!.get(key) ?? newestBelow;
  }

  /** Adds every item that is due at the time to the queue below, the earliest first. */
  #makeReady(time: number): void {
    while (this.#heap.length > 0 && this.#heap.earliest <= time) {
      const key = this.#heap.pop();
      this.#slots.delete(key);
      let item = key as T;
      if (this.#items !== undefined) {
        item = this.#items.get(key)!;
        this.#items.delete(key);
      }
      this.below.add(item);
    }
  }

  /** Sees to it that the timer fires no later than the earliest deadline; there is one timer at most. */
  #setTimer(): void {
    const next = this.#heap.earliest;
    if (next >= this.#wakeAt) return;
    this.#clearTimer();
    const now = this.#clock.now();
    const wakeAt = Math.min(next, now + this.#maxWait);
    // Rounded up, as timers take whole milliseconds and one that fires early would have to be set again.
    const ms = Math.min(Math.max(Math.ceil(wakeAt - now), 0), this.#maxWait);
    this.#timer = this.#clock.setTimeout(() => this.#wake(), ms);
    this.#wakeAt = wakeAt;
    if (!this.#ref) unref(this.#timer);
  }

  #clearTimer(): void {
    if (this.#wakeAt !== Infinity) this.#clock.clearTimeout(this.#timer);
    this.#wakeAt = Infinity;
  }

  #wake(): void {
    this.#wakeAt = Infinity;
    try {
      if (this.below.shuttingDown) this.#forgetWaiting(); // somebody shut it down without asking this layer
      else this.#makeReady(this.#clock.now());
    } finally {
      this.#setTimer();
      this.#drainWhenNoneWait();
    }
  }

  #forgetWaiting(): void {
    this.#clearTimer();
    this.#heap.clear();
    this.#slots.clear();
    this.#items?.clear();
  }

  #drainWhenNoneWait(): void {
    if (this.#drainers.isEmpty || this.waiting > 0) return;
    this.below.shutDownWithDrain().then(
      () => this.#drainers.serveAll(),
      (error) => this.#drainers.failAll(error),
    );
  }
}
