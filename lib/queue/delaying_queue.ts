/**
 * Layer 2: a work queue to which items can be added after a delay.
 *
 * @module
 */

import { hasMethods, requireInteger, requireRules } from "../base/arguments.ts";
import { type Clock, systemClock, unref } from "../base/clock.ts";
import { type Duration, parseDuration } from "../base/duration.ts";
import { requireDuration } from "../base/duration_arguments.ts";
import { brokenRule } from "../base/errors.ts";
import type { DelayingQueue, DelayingQueueOptions } from "../contracts/delaying_queue.ts";
import type { Counter, SettableGauge } from "../contracts/metrics.ts";
import type { AddOptions, DrainOptions, QueueSnapshot, SnapshotOptions, WorkQueue } from "../contracts/work_queue.ts";
import { ChurnMap } from "../structures/churn_map.ts";
import { NumberHeap } from "../structures/number_heap.ts";
import { Priorities } from "../structures/priorities.ts";
import { Waiters } from "../structures/waiters.ts";
import { IDLE, Waits, Watchers } from "../structures/watchers.ts";
import { priorityFor, priorityOf } from "./add_options.ts";
import { limitOf, signalOf } from "./call_options.ts";
import { readDrainOptions } from "./drain_options.ts";
import { hooksOf, setHooks } from "./hooks.ts";
import { setQueueInspection } from "./queue_inspection.ts";
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
 * @throws {TypeError} If an option is unknown, or not what it should be; or if `whileWaiting` is `"replace"` over a queue
 * that cannot tell what is ready.
 */
export function createDelayingQueue<T>(options: DelayingQueueOptions<T> = {}): DelayingQueue<T> {
  requireRules(ACTION, options, {
    ...delayingRules(),
    queue: [isWorkQueue, "must be a work queue"],
  });
  const { queue, maxWait = DEFAULT_MAX_WAIT, ref = true, whileWaiting = "keep", ...common } = options;
  const maxSleep = parseDuration(maxWait);
  const below = queue ?? createWorkQueue<T>(common);
  if (whileWaiting === "replace" && hooksOf(below).stateOf === undefined) {
    const rule = "must be \"keep\" over a queue that has no hook 'stateOf'";
    throw new TypeError(`Cannot ${ACTION} as ${brokenRule("whileWaiting", rule, whileWaiting)}`);
  }
  return new DeadlineQueue(below, { ...common, maxSleep, ref, replaces: whileWaiting === "replace" });
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
  /** Whether a key that waits does not wait any more once it is added without a delay. */
  readonly #replaces: boolean;
  readonly #retries: Counter | undefined;
  readonly #waitingGauge: SettableGauge | undefined;
  /** What it was set to last. */
  #waitingMeasured = 0;
  /** The keys that wait, by deadline; and the slot of each of them in there. */
  readonly #heap = new NumberHeap<unknown>();
  readonly #slots = new ChurnMap<unknown, number>();
  readonly #priorities = new Priorities();
  /** The newest item of each key that waits, where an item is not its own key. */
  readonly #items: ChurnMap<unknown, T> | undefined;
  /** Calls of `shutDownWithDrain` that wait. */
  readonly #drainers = new Waiters<void>();
  /** Those who want to know when fewer keys wait. */
  readonly #watchers = new Watchers();
  /** How the latest drain treats what waits. From then on, adds are refused although the queue below is open. */
  #draining: "drop" | "flush" | "wait" | undefined = undefined;
  /** Ends the look at the queue below, while it is not known whether something comes back from there. */
  #stopWatching: (() => void) | undefined = undefined;
  #timer: unknown = undefined;
  /** What the timer is set for; infinity while there is none. */
  #wakeAt = Infinity;

  constructor(below: WorkQueue<T>, { maxSleep, ref, replaces, metrics, ...common }: Settings<T>) {
    super(below, common);
    const { hooks } = this;
    setHooks<T>(this, {
      newest: (item) => hooks.newest?.(item),
      ...(hooks.stateOf && { stateOf: (item) => hooks.stateOf!(item) }),
      takesBack: (item) => this.#takesBack(item),
      takeBack: (item, delay, options) => this.#takesBack(item) && this.#addAfter(item, delay, priorityOf(options)),
      dueAt: (item) => this.#dueAt(this.key(item)),
      nextDueAt: () => this.waiting === 0 ? undefined : this.#heap.smallest,
      batch: (action) => this.#batch(action),
      watch: (callback) => this.#watch(callback),
      metrics: hooks.metrics ?? metrics,
    });
    if (this.keyOf !== undefined) this.#items = new ChurnMap();
    this.#clock = this.clock ?? systemClock;
    this.#maxSleep = maxSleep;
    this.#ref = ref;
    this.#replaces = replaces;
    if (this.name !== "") {
      this.#retries = metrics?.retries(this.name);
      this.#waitingGauge = metrics?.waiting?.(this.name);
    }
    setQueueInspection(DeadlineQueue.prototype, "DelayingQueue");
  }

  get waiting(): number {
    return this.#heap.length;
  }

  override get shuttingDown(): boolean {
    return this.#draining !== undefined || this.below.shuttingDown;
  }

  override add(item: T, options?: AddOptions): void {
    const priority = options === undefined ? 0 : priorityFor(this.below, options);
    if (this.#draining === undefined) this.#addNow(item, priority);
  }

  addAfter(item: T, delay: Duration, options?: AddOptions): void {
    const ms = requireDuration("add item", "delay", delay);
    const priority = options === undefined ? 0 : priorityFor(this.below, options);
    if (this.shuttingDown) return;
    this.#addAfter(item, ms, priority);
  }

  cancelAfter(item: T): boolean {
    const key = this.key(item);
    const slot = this.#slots.get(key);
    if (slot === undefined) return false;
    this.#remove(key, slot);
    this.#tellLess();
    return true;
  }

  override shutDown(): void {
    this.#forgetWaiting();
    this.#drainers.serveAll();
    try {
      this.#measureWaiting();
    } finally {
      this.below.shutDown();
      this.#watchers.tell();
    }
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
      this.#tellLess();
      return failure === undefined ? drained : drained.then(() => Promise.reject(failure.error));
    } catch (error) {
      return Promise.reject(error);
    }
  }

  override async whenIdle(options?: { signal?: AbortSignal | undefined }): Promise<void> {
    const signal = signalOf("wait for idle queue", options);
    if (this.hooks.watch !== undefined) return await this.#waits.wait(IDLE, signal);
    do { // A moment may be missed in which a queue was idle that cannot be watched.
      await this.below.whenIdle({ signal });
      await this.#waits.wait(IDLE, signal);
    } while (this.waiting > 0 || !this.#isEmptyBelow());
  }

  override async whenBelow(count: number, options?: { signal?: AbortSignal | undefined }): Promise<void> {
    const signal = signalOf("wait for fewer items", options);
    requireInteger("wait for fewer items", "count", count, 1);
    if (this.hooks.watch !== undefined) return await this.#waits.wait(count, signal);
    await this.#waits.wait(count, signal);
    while (!this.shuttingDown && !hasFewer(this.below, count - this.waiting)) {
      await this.below.whenBelow(Math.max(count - this.waiting, 1), { signal }); // late, if fewer wait meanwhile
      await this.#waits.wait(count, signal);
    }
  }

  override snapshot(options?: SnapshotOptions): QueueSnapshot<T> {
    const limit = limitOf(options);
    const now = this.#clock.now();
    const below = super.snapshot(options);
    const waitingItems = this.#heap.first(limit).map((key) => ({
      item: this.#items === undefined ? key as T : this.#items.get(key)!,
      priority: this.#priorities.get(key),
      dueIn: Math.max(this.#dueAt(key)! - now, 0),
    }));
    return { ...below, waiting: this.waiting, waitingItems };
  }

  #takesBack(item: T): boolean {
    return (this.#draining ?? "wait") === "wait" && (this.hooks.takesBack?.(item) ?? false);
  }

  #dueAt(key: unknown): number | undefined {
    const slot = this.#slots.get(key);
    return slot === undefined ? undefined : this.#heap.numberOf(slot);
  }

  /** Whether a wait is over; or the part of it that is known here, if the queue below cannot be watched. */
  #isWaitOver(count: number): boolean {
    const canWatch = this.hooks.watch !== undefined;
    if (count === IDLE) return this.waiting === 0 && (!canWatch || this.#isEmptyBelow());
    if (this.shuttingDown) return true;
    return canWatch ? hasFewer(this.below, count - this.waiting) : this.waiting < count;
  }

  #isEmptyBelow(): boolean {
    return this.below.held === 0 && hasFewer(this.below, 1);
  }

  #addAfter(item: T, ms: number, priority: number): void {
    if (ms <= 0 || (this.#replaces && this.#isComing(item))) this.#addNow(item, priority);
    else {
      this.#wait(item, this.#clock.now() + ms, priority);
      this.#measureWaiting();
    }
    this.#retries?.inc();
  }

  /** Whether the item is ready, or will be once it is done. */
  #isComing(item: T): boolean {
    const state = this.hooks.stateOf!(item);
    return state === "ready" || state === "addedAgain";
  }

  #addNow(item: T, priority: number): void {
    const mayWait = this.waiting > 0 && (this.#replaces || this.#items !== undefined);
    if (mayWait) this.#addBesideWaiting(item, priority);
    else this.#addBelow(item, priority);
  }

  /** Adds an item now of which there may be one that waits. */
  #addBesideWaiting(item: T, priority: number): void {
    const key = this.key(item);
    const slot = this.#slots.get(key);
    if (slot === undefined) return this.#addBelow(item, priority);
    // The newest item with a key is the one handed out: an older one that waits must not come after it.
    const newest = this.#items === undefined ? item : this.#newest(key, item);
    if (!this.#replaces) {
      this.#items!.set(key, newest);
      return this.#addBelow(newest, priority);
    }
    this.#addBelow(newest, Math.max(priority, this.#priorities.get(key)));
    this.#remove(key, slot);
    this.#tellLess();
  }

  #addBelow(item: T, priority: number): void {
    if (priority === 0) this.below.add(item);
    else this.below.add(item, { priority });
  }

  #wait(item: T, deadline: number, priority: number): void {
    const key = this.key(item);
    this.#items?.set(key, this.#newest(key, item));
    const slot = this.#slots.get(key);
    if (slot === undefined) {
      this.#beginToWait(key, deadline, priority);
    } else {
      this.#priorities.raise(key, priority);
      this.#heap.decrease(slot, deadline);
      this.#setTimer();
    }
  }

  /** If a map or a clock throws, the key does not wait. */
  #beginToWait(key: unknown, deadline: number, priority: number): void {
    const slot = this.#heap.push(key, deadline);
    try {
      this.#slots.set(key, slot);
      this.#priorities.set(key, priority);
      this.#setTimer();
    } catch (error) {
      this.#heap.remove(slot);
      this.#slots.delete(key);
      this.#items?.delete(key);
      throw error;
    }
  }

  /** Takes a key out that waits. */
  #remove(key: unknown, slot: number): void {
    this.#heap.remove(slot);
    this.#slots.remove(key);
    this.#priorities.set(key, 0);
    this.#items?.delete(key);
    if (this.waiting === 0) this.#clearTimer();
  }

  /** Of an item that is being worked on and added again, the newest one with its key; of any other, itself. */
  #newest(key: unknown, item: T): T {
    const newestBelow = this.hooks.newest?.(item);
    if (newestBelow === undefined) return item;
    return this.#items!.get(key) ?? newestBelow;
  }

  /** Adds every item that is due at the time to the queue below, the earliest first, before any of them is handed out. */
  #makeReady(time: number): void {
    this.#batch(() => {
      while (this.#heap.length > 0 && this.#heap.smallest <= time) this.#makeNextReady();
    });
  }

  /** Adds the item that is due first. There must be one. */
  #makeNextReady(): void {
    const key = this.#heap.pop();
    const priority = this.#priorities.take(key);
    this.#slots.remove(key);
    let item = key as T;
    if (this.#items !== undefined) {
      item = this.#items.get(key)!;
      this.#items.remove(key);
    }
    try {
      this.#addBelow(item, priority);
    } catch (error) {
      const isLost = this.hooks.stateOf?.(item) === undefined && this.hooks.stateOf !== undefined;
      if (isLost && this.#draining !== "flush") this.#wait(item, this.#clock.now() + TRY_AGAIN, priority);
      throw error;
    }
  }

  #batch(action: () => void): void {
    if (this.hooks.batch === undefined) action();
    else this.hooks.batch(action);
  }

  /** Makes everything ready that waits. An add that throws, as a metric may, stops none of the others. */
  #flush(): { error: unknown } | undefined {
    let failure: { error: unknown } | undefined;
    this.#batch(() => {
      while (this.waiting > 0) {
        try {
          this.#makeReady(Infinity);
        } catch (error) {
          failure ??= { error };
        }
      }
    });
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
      this.#tellLess();
    }
  }

  #forgetWaiting(): void {
    this.#clearTimer();
    this.#heap.clear();
    this.#slots.clear();
    this.#priorities.clear();
    this.#items?.clear();
  }

  /** Calls back whenever there is less to do, here or below. */
  readonly #watch = (callback: () => void): () => void => {
    const stopHere = this.#watchers.add(callback);
    const stopBelow = this.hooks.watch?.(callback);
    return () => {
      stopHere();
      stopBelow?.();
    };
  };
  readonly #waits = new Waits((count) => this.#isWaitOver(count), this.#watch);

  /** Fewer keys may wait than before. */
  #tellLess(): void {
    try {
      this.#measureWaiting();
    } finally {
      this.#closeWhenNothingIsLeft();
      this.#watchers.tell();
    }
  }

  #measureWaiting(): void {
    if (this.#waitingGauge === undefined || this.waiting === this.#waitingMeasured) return;
    this.#waitingMeasured = this.waiting;
    this.#waitingGauge.set(this.waiting);
  }

  /**
   * Goes on with a drain: the queue below can be shut down once nothing waits. Where retries are taken, a held item may
   * have to wait once more, so that queue must have nothing ready and nothing held either.
   */
  #closeWhenNothingIsLeft(): void {
    if (this.#drainers.isEmpty || this.waiting > 0) return;
    const mayComeBack = this.#draining === "wait" && this.hooks.watch !== undefined && !this.#isEmptyBelow();
    if (mayComeBack) this.#stopWatching ??= this.hooks.watch!(() => this.#closeWhenNothingIsLeft());
    else this.#close();
  }

  #close(): void {
    this.#stopWatching?.();
    this.#stopWatching = undefined;
    this.below.shutDownWithDrain({ waiting: this.#draining }).then(
      () => this.#drainers.serveAll(),
      (error) => this.#drainers.failAll(error),
    );
  }
}

/** The options of a queue, checked, with defaults filled in. */
interface Settings<T> extends DelayingQueueOptions<T> {
  readonly maxSleep: number;
  readonly ref: boolean;
  readonly replaces: boolean;
}

/** Whether fewer items of a queue than that are ready or held back. No snapshot is made where the ready ones tell. */
function hasFewer(queue: WorkQueue<unknown>, count: number): boolean {
  const { length } = queue;
  return length < count && length + queue.snapshot({ limit: 0 }).heldBack < count;
}
