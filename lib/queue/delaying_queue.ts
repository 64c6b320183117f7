/**
 * Layer 2: a work queue to which items can be added after a delay.
 *
 * @module
 */

import { hasMethods, requireRules } from "../base/arguments.ts";
import { type Clock, systemClock, unref } from "../base/clock.ts";
import { type Duration, parseDuration } from "../base/duration.ts";
import { requireDuration } from "../base/duration_arguments.ts";
import type { DelayingQueue, DelayingQueueOptions } from "../contracts/delaying_queue.ts";
import type { Counter } from "../contracts/metrics.ts";
import type { DrainOptions, WorkQueue } from "../contracts/work_queue.ts";
import { ChurnMap } from "../structures/churn_map.ts";
import { NumberHeap } from "../structures/number_heap.ts";
import { Waiters } from "../structures/waiters.ts";
import { readDrainOptions } from "./drain_options.ts";
import { setHooks } from "./hooks.ts";
import { QueueLayer } from "./queue_layer.ts";
import { delayingRules } from "./delaying_options.ts";
import { createWorkQueue } from "./work_queue.ts";

export type { Duration } from "../base/duration.ts";
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
 * @throws {TypeError} If an option is unknown, or not what it should be.
 */
export function createDelayingQueue<T>(options: DelayingQueueOptions<T> = {}): DelayingQueue<T> {
  requireRules(ACTION, options, {
    ...delayingRules(),
    queue: [isWorkQueue, "must be a work queue"],
  });
  const { queue, maxWait = DEFAULT_MAX_WAIT, ref = true, ...common } = options;
  const maxSleep = parseDuration(maxWait);
  return new DeadlineQueue(queue ?? createWorkQueue(common), { ...common, maxSleep, ref });
}

const ACTION = "create delaying queue";
const DEFAULT_MAX_WAIT = 10_000;
/** When an item is added again that could not be added as it was due, in milliseconds. */
const TRY_AGAIN = 1000;

function isWorkQueue(value: unknown): boolean {
  return hasMethods(value, "add", "get", "tryGet", "done", "shutDown", "shutDownWithDrain");
}

class DeadlineQueue<T> extends QueueLayer<T, WorkQueue<T>> implements DelayingQueue<T> {
  readonly #clock: Clock;
  readonly #maxSleep: number;
  readonly #ref: boolean;
  readonly #retries: Counter | undefined;
  /** The keys that wait, by deadline; and the slot of each of them in there. */
  readonly #heap = new NumberHeap<unknown>();
  readonly #slots = new ChurnMap<unknown, number>();
  /** The newest item of each key that waits, where an item is not its own key. */
  readonly #items: ChurnMap<unknown, T> | undefined;
  /** Calls of `shutDownWithDrain` that wait. */
  readonly #drainers = new Waiters<void>();
  /** How the latest drain treats what waits. From then on, adds are refused although the queue below is open. */
  #draining: "drop" | "flush" | "wait" | undefined = undefined;
  /** Whether the queue below was asked to tell when it is empty. */
  #watchesBelow = false;
  #timer: unknown = undefined;
  /** What the timer is set for; infinity while there is none. */
  #wakeAt = Infinity;

  constructor(
    below: WorkQueue<T>,
    { maxSleep, ref, metrics, ...common }: DelayingQueueOptions<T> & { maxSleep: number; ref: boolean },
  ) {
    super(below, common);
    const { hooks } = this;
    setHooks<T>(this, {
      newest: (item) => hooks.newest?.(item),
      isHere: (item) => hooks.isHere?.(item) ?? true,
      takesBack: (item) => this.#takesBack(item),
      takeBack: (item, delay) => this.#takesBack(item) && this.#addAfter(item, delay),
    });
    if (this.keyOf !== undefined) this.#items = new ChurnMap();
    this.#clock = this.clock ?? systemClock;
    this.#maxSleep = maxSleep;
    this.#ref = ref;
    this.#retries = this.name === "" ? undefined : metrics?.retries(this.name);
  }

  get waiting(): number {
    return this.#heap.length;
  }

  override get shuttingDown(): boolean {
    return this.#draining !== undefined || this.below.shuttingDown;
  }

  override add(item: T): void {
    if (this.#draining === undefined) this.#addNow(item);
  }

  addAfter(item: T, delay: Duration): void {
    const ms = requireDuration("add item", "delay", delay);
    if (this.shuttingDown) return;
    this.#addAfter(item, ms);
  }

  override shutDown(): void {
    this.#forgetWaiting();
    this.below.shutDown();
    this.#drainers.serveAll();
  }

  override shutDownWithDrain(options?: DrainOptions): Promise<void> {
    try {
      const { waiting = "drop", signal } = readDrainOptions(options);
      if (signal?.aborted) {
        this.shutDown();
        return Promise.reject(signal.reason);
      }
      this.#draining = waiting;
      this.#clock.now(); // if fake timers are gone, what was set there moves to the runtime's
      const drained = this.#drainers.wait(signal, () => this.shutDown());
      const failure = waiting === "flush" ? this.#flush() : undefined;
      if (waiting !== "wait") this.#forgetWaiting();
      this.#closeWhenNothingIsLeft();
      return failure === undefined ? drained : drained.then(() => Promise.reject(failure.error));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  #takesBack(item: T): boolean {
    return (this.#draining ?? "wait") === "wait" && (this.hooks.takesBack?.(item) ?? false);
  }

  #addAfter(item: T, ms: number): void {
    if (ms <= 0) this.#addNow(item);
    else this.#wait(item, this.#clock.now() + ms);
    this.#retries?.inc();
  }

  #addNow(item: T): void {
    // The newest item with a key is the one handed out: an older one that waits must not come after it.
    if (this.#items !== undefined && this.#items.size > 0) {
      const key = this.key(item);
      if (this.#slots.get(key) !== undefined) this.#items.set(key, item = this.#newest(key, item));
    }
    this.below.add(item);
  }

  #wait(item: T, deadline: number): void {
    const key = this.key(item);
    this.#items?.set(key, this.#newest(key, item));
    const slot = this.#slots.get(key);
    if (slot === undefined) {
      this.#beginToWait(key, deadline);
    } else {
      this.#heap.decrease(slot, deadline);
      this.#setTimer();
    }
  }

  /** If a map or a clock throws, the key does not wait. */
  #beginToWait(key: unknown, deadline: number): void {
    const slot = this.#heap.push(key, deadline);
    try {
      this.#slots.set(key, slot);
      this.#setTimer();
    } catch (error) {
      this.#heap.remove(slot);
      this.#slots.delete(key);
      this.#items?.delete(key);
      throw error;
    }
  }

  /** Of an item that is being worked on and added again, the newest one with its key; of any other, itself. */
  #newest(key: unknown, item: T): T {
    const newestBelow = this.hooks.newest?.(item);
    if (newestBelow === undefined) return item;
    return this.#items!.get(key) ?? newestBelow;
  }

  /** Adds every item that is due at the time to the queue below, the earliest first. */
  #makeReady(time: number): void {
    while (this.#heap.length > 0 && this.#heap.smallest <= time) {
      const item = this.#takeEarliest();
      try {
        this.below.add(item);
      } catch (error) {
        const isLost = this.hooks.isHere?.(item) === false && this.#draining !== "flush";
        if (isLost) this.#wait(item, this.#clock.now() + TRY_AGAIN);
        throw error;
      }
    }
  }

  /** Takes the item out that is due first. There must be one. */
  #takeEarliest(): T {
    const key = this.#heap.pop();
    this.#slots.remove(key);
    if (this.#items === undefined) return key as T;
    const item = this.#items.get(key)!;
    this.#items.remove(key);
    return item;
  }

  /** Makes everything ready that waits. An add that throws, as a metric may, stops none of the others. */
  #flush(): { error: unknown } | undefined {
    let failure: { error: unknown } | undefined;
    while (this.waiting > 0) {
      try {
        this.#makeReady(Infinity);
      } catch (error) {
        failure ??= { error };
      }
    }
    return failure;
  }

  /** Sees to it that the timer fires no later than the earliest deadline; there is one timer at most. */
  #setTimer(): void {
    const next = this.#heap.smallest;
    if (next >= this.#wakeAt) return;
    const now = this.#clock.now();
    const wakeAt = Math.min(next, now + this.#maxSleep);
    // Rounded up, as timers take whole milliseconds and one that fires early would have to be set again.
    const ms = Math.min(Math.max(Math.ceil(wakeAt - now), 0), this.#maxSleep);
    const timer = this.#clock.setTimeout(() => this.#wake(), ms);
    this.#clearTimer();
    this.#timer = timer;
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
      this.#closeWhenNothingIsLeft();
    }
  }

  #forgetWaiting(): void {
    this.#clearTimer();
    this.#heap.clear();
    this.#slots.clear();
    this.#items?.clear();
  }

  /**
   * Goes on with a drain: the queue below can be shut down once nothing waits. Where retries are taken, a held item may
   * have to wait once more, so that queue must have nothing ready and nothing held either.
   */
  #closeWhenNothingIsLeft(): void {
    if (this.#drainers.isEmpty || this.waiting > 0) return;
    if (this.#draining !== "wait" || this.hooks.onEmptied === undefined) {
      this.#close();
    } else if (!this.#watchesBelow) {
      this.#watchesBelow = true;
      this.hooks.onEmptied(() => {
        this.#watchesBelow = false;
        if (this.waiting === 0) this.#close();
      });
    }
  }

  #close(): void {
    this.below.shutDownWithDrain({ waiting: this.#draining }).then(
      () => this.#drainers.serveAll(),
      (error) => this.#drainers.failAll(error),
    );
  }
}
