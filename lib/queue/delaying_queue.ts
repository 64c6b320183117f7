/**
 * Layer 2: a work queue that can add items after a delay.
 *
 * @module
 */

import { A_POSITIVE_INTEGER, requireRule, requireRules } from "../base/arguments.ts";
import { callSafely } from "../base/call_safely.ts";
import { type Clock, systemClock, unref } from "../base/clock.ts";
import { type Duration, parseDuration } from "../base/duration.ts";
import { requireDuration, timeoutRule } from "../base/duration_arguments.ts";
import { ErrorOutput } from "../base/error_output.ts";
import { messageOf, placeOf } from "../base/error_text.ts";
import { argumentError, brokenRule, inspect } from "../base/errors.ts";
import { isSameKey } from "../base/keys.ts";
import { inOneLine } from "../base/safe_text.ts";
import type { DelayingQueue, DelayingQueueOptions } from "../contracts/delaying_queue.ts";
import type { QueueDiscipline } from "../contracts/discipline.ts";
import type { DelayedItem } from "../contracts/queue_hooks.ts";
import type { AddOptions, DrainOptions, QueueSnapshot, SnapshotOptions, WorkQueue } from "../contracts/work_queue.ts";
import { type Meter, meterOf } from "../metrics/meter.ts";
import { ChurnMap } from "../base/churn_map.ts";
import { Deadlines } from "../structures/deadlines.ts";
import { Priorities } from "../structures/priorities.ts";
import { Waiters } from "../structures/waiters.ts";
import { IDLE, Waits, Watchers } from "../structures/watchers.ts";
import { Folding } from "./folding.ts";
import { hooksFrom, hooksOf, setHooks } from "./hooks.ts";
import { withKey } from "./known_key.ts";
import { delayingRules, isWorkQueue, limitOf, priorityFor, priorityOf, readDrainOptions, signalOf } from "./options.ts";
import { QueueLayer } from "./queue_layer.ts";
import { RetryGate } from "./retry_gate.ts";
import { Slices } from "./slices.ts";
import { createWorkQueue } from "./work_queue.ts";

export type * from "../contracts/delaying_queue.ts";
export * from "./work_queue.ts";

/**
 * Creates a {@linkcode DelayingQueue}.
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
 * assertEquals(queue.delayed, 1);
 * ```
 *
 * @typeParam T The type of the items.
 * @param options The queue's options. All are optional.
 * @returns An empty queue.
 * @throws {RangeError} If an option has an invalid numeric value, such as a `maxSleep` that is out of bounds.
 * @throws {TypeError} If an option is unknown or otherwise invalid, `queue` is given together with `retryBudget`, or
 * the given `queue` lacks a hook that `addWhileDelayed` needs: `stateOf` for `"replace"`, and `unmark` as well for
 * `"fold"`.
 * @throws Any error that the metrics provider throws when it creates a metric.
 */
export function createDelayingQueue<T>(options: DelayingQueueOptions<T> = {}): DelayingQueue<T> {
  requireRules(ACTION, options, {
    ...delayingRules(timeoutRule()),
    queue: [isWorkQueue, "must be a work queue"],
  });
  const { queue, maxSleep = DEFAULT_MAX_SLEEP, ref = true, addWhileDelayed = "keep", retryBudget, onDrop, ...common } =
    options;
  const replaces = addWhileDelayed !== "keep";
  const folds = addWhileDelayed === "fold";
  let gate: RetryGate<T> | undefined;
  if (retryBudget !== undefined) {
    if (queue !== undefined) throw argumentError(ACTION, "'queue' can't be combined with 'retryBudget'");
    const { clock, discipline } = common;
    gate = new RetryGate(retryBudget, clock ?? systemClock, discipline as QueueDiscipline<T> | undefined, folds);
  }
  const below = queue ?? createWorkQueue<T>(gate === undefined ? common : { ...common, discipline: gate });
  const { stateOf, unmark } = hooksOf(below);
  if ((replaces && stateOf === undefined) || (folds && unmark === undefined)) {
    const rule = stateOf === undefined
      ? "must be \"keep\" over a queue that has no hook 'stateOf'"
      : 'must be "keep" or "replace" over a queue that has no hook \'unmark\'';
    throw argumentError(ACTION, brokenRule("addWhileDelayed", rule, addWhileDelayed));
  }
  try {
    return new DeadlineQueue(below, {
      ...common,
      maxSleep: parseDuration(maxSleep),
      ref,
      replaces,
      folds,
      gate,
      onDrop,
    });
  } catch (error) {
    if (queue === undefined) below.shutDown(); // otherwise, its metrics would stay registered
    throw error;
  }
}

const ACTION = "create delaying queue";
const DEFAULT_MAX_SLEEP = 10_000;
/** Delay, in milliseconds, after which a due item is added again if adding it failed. */
const RETRY_DELAY = 1000;

class DeadlineQueue<T> extends QueueLayer<T, WorkQueue<T>> implements DelayingQueue<T> {
  readonly #clock: Clock;
  readonly #maxSleep: number;
  readonly #ref: boolean;
  /** Whether a delayed item's delay is canceled when the item is added again without a delay. */
  readonly #replaces: boolean;
  /** Delayed keys whose attempt failed; `undefined` if adds are not folded into the retries of such keys. */
  readonly #folding: Folding | undefined;
  /** Gate for retries; `undefined` if they need no budget. */
  readonly #gate: RetryGate<T> | undefined;
  /** Item that is being delayed because its attempt failed; an object that is not in any queue otherwise. */
  #failed: unknown = this;
  readonly #onDrop: ((item: T) => void) | undefined;
  readonly #retries: Meter | undefined;
  readonly #delayedGauge: Meter | undefined;
  /** Latest value to which the gauge was set. */
  #delayedMeasured = 0;
  /** Delayed keys, except the keys in `#flushed`. */
  #deadlines = new Deadlines<unknown>();
  readonly #slices: Slices;
  readonly #errors: ErrorOutput;
  /**
   * Keys that a flush has not made ready yet; `undefined` outside a flush. Keys that are delayed during the flush are
   * not included.
   */
  #flushed: Deadlines<unknown> | undefined = undefined;
  /** First error thrown when an item was added during a flush. */
  #flushFailure: { error: unknown } | undefined = undefined;
  #priorities = new Priorities();
  /** Newest item of each delayed key; `undefined` if items are their own keys. */
  #items: ChurnMap<unknown, T> | undefined;
  /** Pending calls to `shutDownWithDrain`. */
  readonly #drainers = new Waiters<void>();
  /** Callbacks to call when the number of delayed keys may have decreased. */
  readonly #watchers = new Watchers();
  /**
   * Value of the latest drain's `delayed` option. Once this field is set, added items are ignored, even though the
   * queue below is still open.
   */
  #draining: "drop" | "flush" | "wait" | undefined = undefined;
  /** Whether `shutDown` was called while folded adds had to become ready, which may take several slices. */
  #isEnding = false;
  /**
   * Function that stops watching the queue below. Defined while items that are processing may still be delayed again.
   */
  #stopWatching: (() => void) | undefined = undefined;
  #timer: unknown = undefined;
  /** Time at which the timer should fire; `Infinity` if no timer is set. */
  #wakeAt = Infinity;

  constructor(below: WorkQueue<T>, { maxSleep, ref, replaces, folds, gate, onDrop, metrics, ...common }: Settings<T>) {
    super(below, common);
    const { hooks } = this;
    setHooks<T>(this, {
      ...hooksFrom(hooks),
      takesBack: (item) => this.#takesBack(item),
      takeBack: (item, delay, options) => this.#takesBack(item) && this.#addAfter(item, delay, priorityOf(options)),
      dueAt: (item) => this.#dueAt(this.key(item)),
      nextDueAt: () =>
        this.delayed === 0 ? undefined : Math.min(this.#deadlines.earliest, this.#flushed?.earliest ?? Infinity),
      allDelayed: () => this.#allDelayed(),
      watch: (callback) => this.#watch(callback),
      ...(folds && {
        failed: (item: T, action: () => void) => this.#fail(item, action),
        forgotten: (item: T) => this.#folding!.delete(this.key(item)),
      }),
      ...(gate && {
        retry: (item: T, delay: number, options?: AddOptions) => {
          if (!this.shuttingDown || this.#takesBack(item)) this.#addAfter(item, delay, priorityOf(options), true);
        },
        handedBack: (item: T) => {
          if (hooks.stateOf!(item) === "addedAgain") gate.exempt(this.key(item));
        },
        blockedRetries: () => gate,
      }),
      known: this.sharesKeys ? hooks.known : undefined,
      metrics: hooks.metrics ?? metrics,
    });
    if (this.keyOf !== undefined) this.#items = new ChurnMap();
    this.#clock = this.clock ?? systemClock;
    this.#errors = new ErrorOutput(() => this.#clock.now());
    this.#slices = new Slices(this.#clock, hooks, {
      isNothingDue: (time) => this.#isNothingDue(time),
      makeNextReady: () => this.#makeNextReady(),
      onBatchEnd: () => this.#flushed = undefined,
    });
    hooks.setSleep?.(maxSleep, ref);
    this.#maxSleep = maxSleep;
    this.#ref = ref;
    this.#replaces = replaces;
    if (folds) this.#folding = new Folding();
    if (gate !== undefined) {
      this.#gate = gate;
      gate.onChange = () => this.#clearIfIdle() || this.#setTimer();
    }
    this.#onDrop = onDrop;
    if (this.name !== "" && metrics !== undefined) {
      this.#retries = meterOf(metrics, "retries", this.name);
      this.#delayedGauge = meterOf(metrics, "delayed", this.name);
    }
  }

  get delayed(): number {
    return this.#deadlines.length + (this.#flushed?.length ?? 0);
  }

  override get shuttingDown(): boolean {
    return this.#draining !== undefined || this.below.shuttingDown;
  }

  override add(item: T, options?: AddOptions): void {
    const priority = options === undefined ? 0 : priorityFor(this.below, options);
    if (this.shuttingDown) return;
    const readsKey = this.delayed > 0 || this.#gate !== undefined;
    if (this.known === undefined || !readsKey) this.#addNow(item, priority);
    else withKey(this.known, item, this.key(item), () => this.#addNow(item, priority));
  }

  addAfter(item: T, delay: Duration, options?: AddOptions): void {
    const ms = requireDuration("add item", "delay", delay);
    const priority = options === undefined ? 0 : priorityFor(this.below, options);
    if (this.shuttingDown) return;
    if (this.known === undefined) this.#addAfter(item, ms, priority);
    else withKey(this.known, item, this.key(item), () => this.#addAfter(item, ms, priority));
  }

  cancelDelayed(item: T): boolean {
    const key = this.key(item);
    if (!this.#remove(key)) return false;
    this.#tellLess();
    return true;
  }

  override shutDown(): void {
    const tellDropped = this.#drop();
    this.#endWatch();
    this.#drainers.serveAll();
    try {
      this.#isEnding = true;
      this.#draining = "drop";
      this.#tellLess();
    } finally {
      tellDropped();
    }
  }

  override shutDownWithDrain(options?: DrainOptions): Promise<void> {
    try {
      const { delayed = "drop", signal } = readDrainOptions(options);
      if (signal?.aborted) {
        this.shutDown();
        return Promise.reject(signal.reason);
      }
      this.#draining = delayed;
      this.#clock.now(); // if fake timers were removed, moves pending timers back to the runtime
      const drained = this.#drainers.wait(signal, () => this.shutDown());
      if (delayed === "flush") this.#flush();
      const tellDropped = delayed === "drop" ? this.#drop() : undefined;
      try {
        this.#tellLess();
      } finally {
        tellDropped?.();
      }
      return delayed === "flush" ? drained.then(() => this.#throwFlushFailure()) : drained;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  override async whenIdle(options?: { signal?: AbortSignal | undefined }): Promise<void> {
    const signal = signalOf("wait for idle queue", options);
    if (this.hooks.watch !== undefined) return await this.#waits.wait(IDLE, signal);
    do { // A short idle moment may be missed, because the queue below cannot be watched.
      await this.below.whenIdle({ signal });
      await this.#waits.wait(IDLE, signal);
    } while (this.delayed > 0 || !this.#isEmptyBelow());
  }

  override async whenBelow(count: number, options?: { signal?: AbortSignal | undefined }): Promise<void> {
    const signal = signalOf("wait for fewer items", options);
    requireRule("wait for fewer items", "count", count, A_POSITIVE_INTEGER);
    if (this.hooks.watch !== undefined) return await this.#waits.wait(count, signal);
    await this.#waits.wait(count, signal);
    while (!this.shuttingDown && !hasFewer(this.below, count - this.delayed)) {
      await this.below.whenBelow(Math.max(count - this.delayed, 1), { signal }); // resolves late if `delayed` decreases
      await this.#waits.wait(count, signal);
    }
  }

  override snapshot(options?: SnapshotOptions): QueueSnapshot<T> {
    const limit = limitOf(options);
    const now = this.#clock.now();
    const below = super.snapshot(options);
    const delayedItems = this.#firstDelayed(limit).map((key) => ({
      item: this.#itemOf(key),
      priority: this.#priorities.get(key),
      dueInMs: Math.max(this.#dueAt(key)! - now, 0),
    }));
    return { ...below, delayed: this.delayed, delayedItems };
  }

  *#allDelayed(): Generator<DelayedItem<T>, void> {
    for (const deadlines of [this.#flushed, this.#deadlines]) {
      for (const key of deadlines?.keys() ?? []) {
        const dueAt = deadlines!.get(key);
        if (dueAt === undefined) continue; // no longer delayed
        yield { item: this.#itemOf(key), priority: this.#priorities.get(key), dueAt };
      }
    }
  }

  /** Returns the newest item of a delayed key. */
  #itemOf(key: unknown): T {
    return this.#items === undefined ? key as T : this.#items.get(key)!;
  }

  #takesBack(item: T): boolean {
    return this.#draining !== "drop" && (this.hooks.takesBack?.(item) ?? false);
  }

  #dueAt(key: unknown): number | undefined {
    return this.#deadlines.get(key) ?? this.#flushed?.get(key);
  }

  /** Returns at most `limit` delayed keys, in the order in which they become ready. */
  #firstDelayed(limit: number): unknown[] {
    const flushed = this.#flushed?.first(limit) ?? [];
    return [...flushed, ...this.#deadlines.first(limit - flushed.length)];
  }

  /**
   * Reports whether a wait for this count is over. If the queue below cannot be watched, considers only delayed items
   * and shutdown.
   */
  #isWaitOver(count: number): boolean {
    const canWatch = this.hooks.watch !== undefined;
    if (count === IDLE) return this.delayed === 0 && (!canWatch || this.#isEmptyBelow());
    if (this.shuttingDown) return true;
    return canWatch ? hasFewer(this.below, count - this.delayed) : this.delayed < count;
  }

  #isEmptyBelow(): boolean {
    return this.below.processing === 0 && hasFewer(this.below, 1);
  }

  #addAfter(item: T, ms: number, priority: number, isRetry = false): void {
    if (ms <= 0 || (this.#replaces && this.#isComing(item))) this.#addNow(item, priority, isRetry);
    else {
      this.#delay(item, this.#clock.now() + ms, priority, isRetry);
      if (isSameKey(item, this.#failed)) this.#fold(item);
      this.#measureDelayed();
    }
    this.#retries?.inc();
  }

  /** Runs an action that delays an item because its attempt failed. */
  #fail(item: T, action: () => void): void {
    this.#failed = item;
    try {
      action();
    } finally {
      this.#failed = this;
    }
  }

  /**
   * Begins to fold adds of a key into its delay. An add during the attempt is folded as well: the key no longer becomes
   * ready when it is done.
   */
  #fold(item: T): void {
    const key = this.key(item);
    this.#folding!.begin(key);
    if (this.hooks.stateOf!(item) === "addedAgain") {
      this.#folding!.add(key);
      this.#priorities.raise(key, this.hooks.unmark!(item));
    }
    this.#gate?.unmark(key);
  }

  /** Reports whether the item is ready, or will be ready once it is done. A failed item does not become ready then. */
  #isComing(item: T): boolean {
    const state = this.hooks.stateOf!(item);
    return state === "ready" || (state === "addedAgain" && !isSameKey(item, this.#failed));
  }

  #addNow(item: T, priority: number, isRetry = false): void {
    const mayBeDelayed = this.delayed > 0 && (this.#replaces || this.#items !== undefined);
    if (mayBeDelayed) this.#addBesideDelayed(item, priority, isRetry);
    else this.#addBelow(item, priority, isRetry);
  }

  /** Adds an item without a delay. The item's key may still be delayed from an earlier call. */
  #addBesideDelayed(item: T, priority: number, isRetry: boolean): void {
    const key = this.key(item);
    if (this.#dueAt(key) === undefined) return this.#addBelow(item, priority, isRetry);
    // An older delayed item must not be handed out after a newer item with the same key.
    const newest = this.#items === undefined ? item : this.#newest(key, item);
    if (this.#folding?.has(key)) {
      this.#folding.add(key);
      this.#items?.set(key, newest);
      return this.#priorities.raise(key, priority);
    }
    if (!this.#replaces) {
      this.#items!.set(key, newest);
      return this.#addBelow(newest, priority, isRetry);
    }
    this.#addBelow(newest, Math.max(priority, this.#priorities.get(key)), isRetry);
    this.#remove(key);
    this.#tellLess();
  }

  #addBelow(item: T, priority: number, isRetry: boolean): void {
    this.#gate?.come(this.key(item), isRetry, isRetry && this.hooks.stateOf!(item) === "addedAgain");
    if (priority === 0) this.below.add(item);
    else this.below.add(item, { priority });
  }

  #delay(item: T, deadline: number, priority: number, isRetry: boolean): void {
    const key = this.key(item);
    const dueAt = this.#gate && this.#dueAt(key);
    this.#delayAs(key, this.#items === undefined ? item : this.#newest(key, item), deadline, priority);
    if (dueAt === undefined || deadline < dueAt) this.#gate?.delay(key, isRetry); // the earlier deadline applies
  }

  #delayAs(key: unknown, item: T, deadline: number, priority: number): void {
    this.#items?.set(key, item);
    if (!this.#deadlines.has(key) && this.#flushed?.has(key) !== true) return this.#beginDelay(key, deadline, priority);
    this.#priorities.raise(key, priority);
    this.#deadlines.bringForward(key, deadline);
    this.#setTimer();
  }

  /** Starts the delay of a key. If this method throws, the key is not delayed. */
  #beginDelay(key: unknown, deadline: number, priority: number): void {
    try {
      this.#deadlines.add(key, deadline);
      if (priority !== 0) this.#priorities.set(key, priority);
    } catch (error) {
      this.#deadlines.remove(key);
      this.#items?.delete(key);
      throw error;
    }
    if (deadline < this.#wakeAt) this.#setTimer();
  }

  /** Removes a key. Reports whether the key was delayed. */
  #remove(key: unknown): boolean {
    if (!this.#deadlines.remove(key) && !this.#flushed?.remove(key)) return false;
    this.#priorities.set(key, 0);
    this.#items?.delete(key);
    this.#folding?.delete(key);
    this.#gate?.delay(key, false);
    this.#clearIfIdle();
    return true;
  }

  /** Returns the newest item with this key if the given item is processing; otherwise, returns the given item. */
  #newest(key: unknown, item: T): T {
    const newestBelow = this.hooks.newest?.(item);
    if (newestBelow === undefined) return item;
    return this.#items!.get(key) ?? newestBelow;
  }

  /** Reports whether no delayed item is due at `time`. During a flush, reports whether no item is left to flush. */
  #isNothingDue(time: number): boolean {
    if (this.#flushed !== undefined) return this.#flushed.length === 0;
    return this.#deadlines.length === 0 || this.#deadlines.earliest > time;
  }

  /** Adds the item with the earliest deadline to the queue below. There must be a delayed item. */
  #makeNextReady(): void {
    this.#makeReady((this.#flushed ?? this.#deadlines).shift());
  }

  /** Adds the item of a key that is no longer delayed to the queue below. */
  #makeReady(key: unknown): void {
    this.#folding?.delete(key);
    const isRetry = this.#gate?.due(key) === true && this.#flushed === undefined;
    const priority = this.#priorities.take(key);
    const item = this.#itemOf(key);
    this.#items?.remove(key);
    if (this.known === undefined) this.#addDue(key, item, priority, isRetry);
    else withKey(this.known, item, key, () => this.#addDue(key, item, priority, isRetry));
  }

  /**
   * Adds an item whose delay has passed. If adding the item fails, it is added again later. Never throws, because a
   * timer calls this method.
   */
  #addDue(key: unknown, item: T, priority: number, isRetry: boolean): void {
    try {
      this.#addBelow(item, priority, isRetry);
    } catch (error) {
      const isKept = this.#keepBelow(item, priority);
      if (!isKept) this.#delayAs(key, this.#items?.get(key) ?? item, this.#clock.now() + RETRY_DELAY, priority);
      if (this.#flushed !== undefined) this.#flushFailure ??= { error };
      else callSafely(() => this.#errors.write(() => this.#describe(error, key, isKept)), () => {}, undefined);
    }
  }

  /** Asks the queue below to keep an item even though adding it threw. Reports whether the queue has the item. */
  #keepBelow(item: T, priority: number): boolean {
    try {
      this.hooks.keep?.(item, priority);
      return this.hooks.stateOf !== undefined && this.#isComing(item);
    } catch {
      return false;
    }
  }

  #describe(error: unknown, key: unknown, isKept: boolean): string {
    const queue = this.name === "" ? "" : ` of queue ${inspect(this.name)}`;
    const result = isKept ? "ready, but its add failed" : "due, but cannot be added for another second";
    return `Delayed item ${inspect(key)}${queue} is ${result}: ${messageOf(error)} ${placeOf(error)}`.trimEnd();
  }

  /**
   * Makes all delayed items ready. If adding an item throws, for example because of a discipline, the other items are
   * still added.
   */
  #flush(): void {
    this.#clearTimer();
    const delayed = this.#deadlines;
    this.#deadlines = new Deadlines();
    if (this.#flushed === undefined) this.#flushed = delayed;
    else for (const key of delayed.keys()) this.#flushed.add(key, delayed.get(key)!); // the keys join the running flush
    this.#flushFailure = undefined;
    this.#gate?.open(true);
    if (this.#slices.isAdding) return; // called by a discipline during a slice: the slice also adds these keys
    this.#slices.addNext();
    this.#setTimer();
  }

  #throwFlushFailure(): void {
    if (this.#flushFailure !== undefined) throw this.#flushFailure.error;
  }

  /** Earliest time at which there is something to do; `Infinity` if there is none. */
  get #earliest(): number {
    const { earliest } = this.#deadlines;
    return this.#gate === undefined ? earliest : Math.min(earliest, this.#gate.opensAt);
  }

  /** Ensures that the timer fires no later than the earliest deadline. There is at most one timer. */
  #setTimer(): void {
    if (this.#slices.isAdding) return; // the timer is set after the slice
    const next = this.#slices.isUnderWay ? -Infinity : this.#earliest;
    if (next >= this.#wakeAt) return;
    const now = this.#clock.now();
    const wakeAt = Math.min(next, now + this.#maxSleep);
    // Rounded up: timers take whole milliseconds, and a timer that fires early would have to be set again.
    const ms = Math.min(Math.max(Math.ceil(wakeAt - now), 0), this.#maxSleep);
    const timer = this.#clock.setTimeout(() => this.#wake(), ms);
    this.#clearTimer();
    this.#timer = timer;
    this.#wakeAt = wakeAt;
    if (!this.#ref) unref(this.#timer);
  }

  #clearTimer(): void {
    if (this.#wakeAt === Infinity) return;
    this.#wakeAt = Infinity; // first, because the clock may throw
    this.#clock.clearTimeout(this.#timer);
  }

  /** Clears the timer if there is nothing to do at any time. Reports whether that is so. */
  #clearIfIdle(): boolean {
    const isIdle = this.#earliest === Infinity && !this.#slices.isUnderWay;
    if (isIdle) this.#clearTimer();
    return isIdle;
  }

  #wake(): void {
    this.#wakeAt = Infinity;
    try {
      this.#gate?.open();
      if (this.below.shuttingDown) this.#drop()(); // the queue below was shut down directly, not through this layer
      if (!this.below.shuttingDown || this.#gate !== undefined) this.#slices.addNext();
    } finally {
      this.#setTimer();
      this.#tellLess();
    }
  }

  /**
   * Drops all delayed items, except items that were added while they were delayed after a failure: these become ready,
   * in slices. Returns a function that reports the dropped items to `onDrop`.
   */
  #drop(): () => void {
    const folded = new Deadlines<unknown>();
    if (this.#folding !== undefined && !this.below.shuttingDown) {
      this.#flushed?.copyTo(folded, this.#folding.added());
      this.#deadlines.copyTo(folded, this.#folding.added());
    }
    const dropped: T[] = [];
    const [priorities, items] = [this.#priorities, this.#items];
    for (const deadlines of this.#onDrop === undefined ? [] : [this.#flushed, this.#deadlines]) {
      for (const key of deadlines?.keys() ?? []) if (!folded.has(key)) dropped.push(this.#itemOf(key));
    }
    this.#priorities = new Priorities();
    if (items !== undefined) this.#items = new ChurnMap();
    for (const key of folded.keys()) {
      this.#priorities.set(key, priorities.get(key));
      this.#items?.set(key, items!.get(key)!);
      this.#gate?.delay(key, false);
    }
    this.#deadlines = new Deadlines();
    this.#flushed = folded.length > 0 ? folded : undefined;
    this.#slices.cancel();
    this.#clearIfIdle();
    if (folded.length > 0) {
      this.#slices.addNext();
      this.#setTimer();
    }
    return () => {
      for (const item of dropped) this.#tellDropped(item);
    };
  }

  /**
   * Reports a dropped item to `onDrop`. If the callback throws or rejects, the error goes to `console.error`, and the
   * other items are still reported.
   */
  #tellDropped(item: T): void {
    const report = (error: unknown) =>
      console.error(inOneLine(`Item ${inspect(item)} was dropped, and onDrop failed: ${messageOf(error)}`));
    callSafely(this.#onDrop!, report, item);
  }

  /** Calls `callback` whenever this queue or the queue below has less to do. Returns an unsubscribe function. */
  readonly #watch = (callback: () => void): () => void => {
    const stopHere = this.#watchers.add(callback);
    const stopBelow = this.hooks.watch?.(callback);
    return () => {
      stopHere();
      stopBelow?.();
    };
  };
  readonly #waits = new Waits((count) => this.#isWaitOver(count), this.#watch);

  /**
   * Updates the gauge, and notifies pending drains and watchers. Must be called when the number of delayed keys may
   * have decreased.
   */
  #tellLess(): void {
    this.#measureDelayed();
    this.#closeWhenNothingIsLeft();
    this.#watchers.tell();
  }

  #measureDelayed(): void {
    if (this.#delayedGauge === undefined || this.delayed === this.#delayedMeasured) return;
    this.#delayedMeasured = this.delayed;
    this.#delayedGauge.set(this.delayed);
  }

  /**
   * Continues a shutdown or a drain: shuts down the queue below once no item is delayed. If the drain accepts retries,
   * a processing item may be delayed again. In that case, the queue below must also have no ready, blocked or
   * processing items.
   */
  #closeWhenNothingIsLeft(): void {
    if (this.#isEnding && this.delayed === 0) {
      this.#isEnding = false;
      this.below.shutDown();
    }
    if (this.#drainers.isEmpty || this.delayed > 0) return;
    const mayComeBack = this.#draining !== "drop" && this.hooks.watch !== undefined && !this.#isEmptyBelow();
    if (mayComeBack) this.#stopWatching ??= this.hooks.watch!(() => this.#closeWhenNothingIsLeft());
    else this.#close();
  }

  #endWatch(): void {
    this.#stopWatching?.();
    this.#stopWatching = undefined;
  }

  #close(): void {
    this.#endWatch();
    this.below.shutDownWithDrain({ delayed: this.#draining }).then(
      () => this.#drainers.serveAll(),
      (error) => {
        while (!this.#drainers.isEmpty) this.#drainers.shift().reject(error);
      },
    );
  }
}

/** Validated options of a queue, with defaults filled in. */
interface Settings<T> extends DelayingQueueOptions<T> {
  readonly maxSleep: number;
  readonly ref: boolean;
  readonly replaces: boolean;
  readonly folds: boolean;
  readonly gate: RetryGate<T> | undefined;
}

/**
 * Reports whether fewer than `count` items of a queue are ready or blocked. Makes a snapshot only if the number of
 * ready items is not enough to decide.
 */
function hasFewer(queue: WorkQueue<unknown>, count: number): boolean {
  const { length } = queue;
  return length < count && length + queue.snapshot({ limit: 0 }).blocked < count;
}
