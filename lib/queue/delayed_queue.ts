import { isRealTime, unref } from "../base/clock.ts";
import { type Duration, parseDuration } from "../base/duration.ts";
import { requireDuration } from "../base/duration_arguments.ts";
import { ErrorOutput } from "../base/error_output.ts";
import { inspect } from "../base/errors.ts";
import { isSameKey } from "../base/keys.ts";
import { inOneLine } from "../base/safe_text.ts";
import { callSafely, messageOf, placeOf } from "../base/thrown.ts";
import type { DelayingQueue, DelayingQueueOptions } from "../contracts/delaying_queue.ts";
import type { AddOptions, DrainOptions, QueueSnapshot, SnapshotOptions } from "../contracts/work_queue.ts";
import type { Meter } from "../metrics/meter.ts";
import { burst } from "../structures/burst.ts";
import { inSlices } from "../structures/in_slices.ts";
import { RecordHeap } from "../structures/record_heap.ts";
import {
  delayedItemOf,
  delayPriorityOf,
  NONE,
  setDelay,
  setDelayedItem,
  setDelayPriority,
} from "../structures/records.ts";
import { IDLE } from "../structures/waiters.ts";
import { measuringOf, RETRIES } from "./opt_ins.ts";
import { limitOf, priorityOf } from "./options.ts";
import {
  AGAIN,
  DELAY,
  DELAYED,
  EXEMPT,
  FOLDING,
  NEEDS_BUDGET,
  POSITION,
  PROCESSING,
  READY,
  RETRY_DELAYED,
} from "./positions.ts";
import type { RecordLease } from "./record_queue.ts";
import { type Batch, ServedQueue } from "./served_queue.ts";

const DEFAULT_MAX_SLEEP = 10_000;
/** Delay, in milliseconds, after which a due item is added again if adding it failed. */
const ADD_AGAIN_DELAY = 1000;

/** Longest time for which one slice of due items blocks the event loop, in milliseconds. */
const MAX_SLICE = 10;
/** Number of items in a slice between two reads of the clock. */
const ITEMS_PER_LOOK = 16;

/** Retry budget, as queues see it. */
interface AddsBudget {
  [RETRIES](queue: unknown): void;
}

/** Work queue whose records may be delayed. */
export class DelayedQueue<T> extends ServedQueue<T> implements DelayingQueue<T> {
  readonly #maxSleep: number;
  readonly #ref: boolean;
  /** Whether a delayed item's delay is canceled when the item is added again without a delay. */
  readonly #replaces: boolean;
  /** Whether adds are folded into the retries of keys whose attempt failed. */
  readonly folds: boolean;
  /** Whether retries are marked, because a budget or the order treats them differently. */
  protected marksRetries: boolean;
  readonly #onDrop: ((item: T) => void) | undefined;
  readonly #retriesMeter: Meter | undefined;
  readonly #delayedGauge: Meter | undefined;
  /** Latest value to which the gauge was set. */
  #delayedMeasured = 0;
  /** Records of delayed keys by deadline, except those in `#flushed`. */
  #delays = new RecordHeap();
  /**
   * Records of keys that a flush has not made ready yet; `undefined` outside a flush. Keys that are delayed during the
   * flush are not included.
   */
  #flushed: RecordHeap | undefined = undefined;
  /** Delayed records into whose delay an add was folded, so that a shutdown finds them without a look at all others. */
  readonly #folded = new Set<number>();
  readonly #errors: ErrorOutput;
  /** First error thrown when an item was added during a flush. */
  #flushFailure: { error: unknown } | undefined = undefined;
  /** Value of the latest drain's `delayed` option. Once this field is set, added items are ignored. */
  #draining: DrainOptions["delayed"] = undefined;
  /** Whether `shutDown` was called while folded adds had to become ready, which may take several slices. */
  #isEnding = false;
  /** Function that ends the watch for items that are delayed again while the queue drains. */
  #stopWatching: (() => void) | undefined = undefined;
  #delayTimer: unknown = undefined;
  /** Time at which the timer should fire; `Infinity` if no timer is set. */
  #dueTimerAt = Infinity;

  constructor(options: DelayingQueueOptions<T>) {
    super(options);
    const { maxSleep = DEFAULT_MAX_SLEEP, ref = true, addWhileDelayed, retryBudget, onDrop, metrics } = options;
    this.#maxSleep = parseDuration(maxSleep);
    this.#ref = ref;
    this.sleep = { max: this.#maxSleep, ref };
    this.#replaces = addWhileDelayed === "replace" || addWhileDelayed === "fold";
    this.folds = addWhileDelayed === "fold";
    this.#onDrop = onDrop;
    this.marksRetries = retryBudget !== undefined;
    this.#errors = new ErrorOutput(() => this.time.now());
    if (retryBudget !== undefined) (retryBudget as object as AddsBudget)[RETRIES](this);
    if (this.name === "" || metrics === undefined) return;
    const { meterOf } = measuringOf(metrics);
    try {
      this.#retriesMeter = meterOf(metrics, "retries", this.name);
      this.#delayedGauge = meterOf(metrics, "delayed", this.name);
    } catch (error) {
      super.shutDown(); // otherwise, the other metrics would stay registered
      throw error;
    }
  }

  protected override get type(): string {
    return "Delaying";
  }

  get delayed(): number {
    return this.#delays.length + (this.#flushed?.length ?? 0);
  }

  addAfter(item: T, delay: Duration, options?: AddOptions): void {
    const ms = requireDuration("add item", "delay", delay);
    const priority = options === undefined ? 0 : priorityOf(options);
    if (this.ignoresAdds) return;
    const key = this.key(item);
    this.delayItem(this.records.of(key), key, item, ms, priority);
  }

  /** Adds an item after the delay of a limiter, unless the queue is shutting down and doesn't take the item back. */
  protected retryAfter(
    record: number,
    key: unknown,
    item: T,
    ms: number,
    priority: number,
    hasFailed: boolean,
    now: number,
  ): void {
    if (this.ignoresAdds && !this.takesRetry(record)) return;
    this.delayItem(record, key, item, ms, priority, this.marksRetries ? NEEDS_BUDGET : 0, hasFailed, now);
  }

  /** Returns the time at which a delayed item is due, by the queue's clock; `undefined` if the item is not delayed. */
  dueAt(item: T): number | undefined {
    return this.dueAtOf(this.records.of(this.key(item)));
  }

  /**
   * Adds an item that its holder hands back without having worked on it. The item is ready at once, with its previous
   * priority.
   */
  handBack(lease: RecordLease<T>): void {
    const { key, item, priority } = lease;
    const record = lease.recordIn(this.records);
    if (!this.ignoresAdds) this.addNow(key, item, priority);
    else if (this.takesRetry(record)) this.delayItem(record, key, item, 0, priority);
    if (this.ordering?.retries !== undefined && this.positionIn(record) === AGAIN) this.mark(record, EXEMPT);
  }

  cancelDelayed(item: T): boolean {
    if (!this.endDelay(this.records.of(this.key(item)))) return false;
    this.tellFewer();
    return true;
  }

  /** Ends the delay of a key before it is due. Reports whether the key was delayed. */
  protected endDelay(record: number): boolean {
    const heap = this.#heapOf(record);
    if (heap === undefined) return false;
    heap.delete(record);
    this.#forgetDelay(record, this.records.stateOf(record));
    return true;
  }

  /** Must be called after the work on a key was cancelled, or its delay ended before it was due. */
  protected tellFewer(): void {
    this.#clearIfIdle();
    this.#tellLess();
  }

  override shutDown(): void {
    const tellDropped = this.#drop();
    this.#endWatch();
    this.drainers.serveAll();
    try {
      this.#isEnding = true;
      this.#draining = "drop";
      this.ignoresAdds = true;
      this.#tellLess();
    } finally {
      tellDropped();
    }
  }

  override shutDownWithDrain(options?: DrainOptions): Promise<void> {
    const drained = super.shutDownWithDrain(options);
    return this.#draining === "flush" ? drained.then(() => this.#throwFlushFailure()) : drained;
  }

  protected override drain(delayed: DrainOptions["delayed"]): void {
    this.#draining = delayed;
    this.ignoresAdds = true;
    this.time.now(); // if fake timers were removed, moves pending timers back to the runtime
    if (delayed === "flush") this.#flush();
    const tellDropped = delayed === "drop" ? this.#drop() : undefined;
    try {
      this.#tellLess();
    } finally {
      tellDropped?.();
    }
  }

  override snapshot(options?: SnapshotOptions): QueueSnapshot<T> {
    const limit = limitOf(options);
    const now = this.time.now();
    const delayedItems = this.firstDelayed(limit).map((record) => ({
      item: delayedItemOf(this.records, record) as T,
      priority: delayPriorityOf(this.records, record),
      dueInMs: Math.max(this.dueAtOf(record)! - now, 0),
    }));
    return { ...super.snapshot(options), delayed: this.delayed, delayedItems };
  }

  /** Reports whether the queue still takes back a processing item, although it may be shutting down. */
  protected takesRetry(record: number): boolean {
    if (this.isShutDown || this.#draining === "drop") return false;
    return this.positionIn(record) >= PROCESSING;
  }

  protected override isWaitOver(count: number): boolean {
    if (count === IDLE) return this.delayed === 0 && super.isWaitOver(IDLE);
    return this.ignoresAdds || this.hasFewer(count - this.delayed);
  }

  /** Ends the folding of adds into the delay of an item, because its failures are forgotten. */
  protected endFolding(record: number): void {
    const state = this.records.stateOf(record);
    if ((state & FOLDING) === 0) return;
    this.records.setState(record, state & ~FOLDING);
    this.#folded.delete(record);
  }

  /** Reports whether an item will be ready again without being added: it was added again, or is delayed. */
  protected willRunAgain(record: number): boolean {
    return this.positionIn(record) === AGAIN || this.#isDelayed(record);
  }

  /** Reports whether a record is that of a delayed key. */
  #isDelayed(record: number): boolean {
    return this.#heapOf(record) !== undefined;
  }

  /** Returns the heap that has the record of a delayed key; `undefined` if the key is not delayed, or was dropped. */
  #heapOf(record: number): RecordHeap | undefined {
    if (record === NONE) return undefined;
    if (this.#delays.has(record)) return this.#delays;
    return this.#flushed?.has(record) ? this.#flushed : undefined;
  }

  /** Returns the time at which the record of a delayed key is due; `undefined` if the key is not delayed. */
  dueAtOf(record: number): number | undefined {
    return this.#heapOf(record)?.numberOf(record);
  }

  /** Returns at most `limit` delayed records, in the order in which they become ready. */
  firstDelayed(limit: number): number[] {
    const flushed = this.#flushed?.list(limit) ?? [];
    return [...flushed, ...this.#delays.list(limit - flushed.length)];
  }

  /**
   * Adds an item after a delay, even if the queue is shutting down.
   *
   * @param record The record of the key; `NONE` if it has none.
   * @param marks Kind of the next attempt: `NEEDS_BUDGET` for a retry if the queue has a retry budget, and otherwise 0.
   * @param hasFailed Whether the item is delayed because an attempt at it failed.
   * @param now The current time, if it is known.
   */
  protected delayItem(
    record: number,
    key: unknown,
    item: T,
    ms: number,
    priority: number,
    marks = 0,
    hasFailed = false,
    now?: number,
  ): void {
    const state = this.records.stateOf(record);
    // If the key was done before its attempt ended, nothing is folded.
    const folds = hasFailed && this.folds && (state & (POSITION | DELAYED)) !== 0;
    if (ms <= 0 || (this.#replaces && isComing(state, folds))) {
      if (record === NONE) this.addNew(key, item, priority, marks);
      else this.addToKnown(record, state, item, priority, marks);
      // An add during the failed attempt is folded into the retry, so it doesn't make the retry a first attempt.
      if (folds && this.positionIn(record) === AGAIN) this.mark(record, marks);
    } else {
      this.#delay(key, record, state, item, ms, priority, marks === 0 ? 0 : RETRY_DELAYED, now ?? this.time.now());
      if (folds) this.#fold(record);
      if (this.#delayedGauge !== undefined) this.#measureDelayed();
    }
    this.#retriesMeter?.inc();
  }

  /**
   * Begins to fold adds of a key into its delay. An add during the attempt is folded as well: the key no longer becomes
   * ready when it is done.
   */
  #fold(record: number): void {
    this.records.setState(record, this.records.stateOf(record) | FOLDING);
    if (this.positionIn(record) !== AGAIN) return;
    this.#folded.add(record);
    this.#raise(record, this.unmark(record));
  }

  #raise(record: number, priority: number): void {
    if (priority > delayPriorityOf(this.records, record)) setDelayPriority(this.records, record, priority);
  }

  protected override addBesideDelay(record: number, state: number, item: T, priority: number, marks: number): void {
    if (!this.#isDelayed(record)) return this.addToRecord(record, state, item, priority, marks);
    // An older delayed item must not be handed out after a newer item with the same key.
    const newest = this.keyOf === undefined ? item : this.#newest(record, item);
    if ((state & FOLDING) !== 0) {
      this.#folded.add(record);
      setDelayedItem(this.records, record, newest);
      return this.#raise(record, priority);
    }
    if (!this.#replaces) {
      setDelayedItem(this.records, record, newest);
      return this.addToRecord(record, state, newest, priority, marks);
    }
    const key = this.records.keyOf(record);
    this.addToRecord(record, state, newest, Math.max(priority, delayPriorityOf(this.records, record)), marks);
    // The discipline or the observer may have ended the delay, or cancelled the key and delayed this or another one.
    if (this.records.has(record, key) && this.positionIn(record) !== 0) this.endDelay(record);
    this.tellFewer();
  }

  /**
   * Returns the newest item of a key if the given item is processing; otherwise, returns the given item. Not needed if
   * items are their own keys.
   */
  #newest(record: number, item: T): T {
    const newest = this.#newestOf(record, item);
    if (newest === undefined) return item;
    return this.#isDelayed(record) ? delayedItemOf(this.records, record) as T : newest;
  }

  /** Delays an item. `kind` is `RETRY_DELAYED` for a retry that needs budget, and otherwise 0. */
  #delay(
    key: unknown,
    record: number,
    state: number,
    item: T,
    ms: number,
    priority: number,
    kind: number,
    now: number,
  ): void {
    const { records } = this;
    const deadline = now + ms;
    const newest = this.keyOf === undefined ? item : this.#newest(record, item);
    const heap = (state & DELAYED) === 0 ? undefined : this.#heapOf(record);
    if (heap === undefined) {
      if (record === NONE) record = records.take(key, DELAYED, undefined, 0);
      this.#beginDelay(record, state, newest, deadline, priority, kind);
    } else {
      setDelayedItem(records, record, newest);
      this.#raise(record, priority);
      if (deadline < heap.numberOf(record)) { // the earlier deadline applies
        records.setState(record, state & ~RETRY_DELAYED | kind);
        heap.decrease(record, deadline);
      }
    }
    if (deadline < this.#dueTimerAt) this.#setDelayTimer(now);
  }

  #beginDelay(record: number, state: number, item: T, deadline: number, priority: number, kind: number): void {
    setDelay(this.records, record, state & ~DELAY | DELAYED | kind, item, priority);
    this.#delays.add(record, deadline);
  }

  /** Clears a delay in the record of its key, without making the key ready. */
  #forgetDelay(record: number, state: number): void {
    const rest = this.#withoutDelay(record, state);
    if (rest === 0) this.records.free(record);
    else this.records.setState(record, rest);
  }

  /** Releases the item of a delay that ends. Returns the state of the record without the delay. */
  #withoutDelay(record: number, state: number): number {
    if ((state & FOLDING) !== 0) this.#folded.delete(record);
    if (this.keyOf !== undefined) setDelayedItem(this.records, record, undefined);
    return state & ~DELAY;
  }

  /**
   * Adds the item of a key whose delay has passed. If adding the item fails, it is added again later. Never throws,
   * because a timer calls this method.
   */
  #addNextDue(record: number): void {
    const { records } = this;
    const state = records.stateOf(record);
    const isRetry = (state & RETRY_DELAYED) !== 0 && this.#flushed === undefined;
    const item = delayedItemOf(records, record) as T;
    const priority = delayPriorityOf(records, record);
    const key = records.keyOf(record);
    try {
      this.#addDue(record, this.#withoutDelay(record, state), item, priority, isRetry ? NEEDS_BUDGET : 0);
    } catch (error) {
      const rest = records.stateOf(record);
      const isKept = records.has(record, key) && isComing(rest);
      if (!isKept) this.#beginDelay(record, rest, item, this.time.now() + ADD_AGAIN_DELAY, priority, 0);
      if (this.#flushed !== undefined) this.#flushFailure ??= { error };
      else callSafely(() => this.#errors.write(() => this.#describe(error, key, isKept)));
    }
  }

  /**
   * Adds an item whose delay has passed. If the order refuses the item, it becomes ready nevertheless.
   *
   * @param state State of the record without its delay.
   * @throws The error of the order or the clock. After an error, the key's position shows whether the item is kept.
   */
  #addDue(record: number, state: number, item: T, priority: number, marks: number): void {
    if ((state & POSITION) !== 0) {
      this.records.setState(record, state);
      try {
        return this.addToRecord(record, state, item, priority, marks);
      } catch (error) {
        this.records.setItem(record, item);
        throw error;
      }
    }
    this.records.set(record, state | marks | READY, item, priority);
    this.size++;
    try {
      this.line.push(record, marks, true);
    } finally {
      if (this.isAttended) this.tellAdded(record);
    }
  }

  /** Clears the mark that a processing key was added again. Returns the priority with which it was added again. */
  protected unmark(record: number): number {
    this.comingBack--;
    this.records.setState(record, this.records.stateOf(record) + PROCESSING - AGAIN);
    this.mark(record, 0);
    this.observer?.unmarked(record);
    const priority = this.records.nextPriorityOf(record);
    this.records.setNext(record, undefined, 0); // lets the item be garbage collected
    return priority;
  }

  /** Returns the newest item of a key that is processing; `undefined` if another item of the key was handed out. */
  #newestOf(record: number, item: T): T | undefined {
    const position = this.positionIn(record);
    if (position < PROCESSING || !isSameKey(this.itemOf(record), item)) return undefined;
    return position === AGAIN ? this.records.nextItemOf(record) as T : item;
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
    this.#clearDelayTimer();
    const delays = this.#delays;
    this.#delays = new RecordHeap();
    if (this.#flushed === undefined) this.#flushed = delays;
    else this.#moveToFlush(delays, delays.list(delays.length)); // the keys join the running flush
    this.#flushFailure = undefined;
    this.ordering?.retries?.open();
    if (this.batch?.isAdding) return; // called by a discipline during a slice: the slice also adds these keys
    this.#addSlice();
    this.#setDelayTimer();
  }

  /** Adds records of a heap to those that are flushed. */
  #moveToFlush(from: RecordHeap, moved: Iterable<number>): void {
    for (const record of moved) this.#flushed!.add(record, from.numberOf(record));
  }

  #throwFlushFailure(): void {
    if (this.#flushFailure !== undefined) throw this.#flushFailure.error;
  }

  /** Ensures that the timer fires no later than the earliest deadline. There is at most one timer. */
  #setDelayTimer(time?: number): void {
    if (this.batch?.isAdding) return; // the timer is set after the slice
    const next = this.batch === undefined ? this.#delays.smallest : -Infinity;
    if (next >= this.#dueTimerAt) return;
    const now = time ?? this.time.now();
    const wakeAt = Math.min(next, now + this.#maxSleep);
    // Rounded up: timers take whole milliseconds, and a timer that fires early would have to be set again.
    const ms = Math.min(Math.max(Math.ceil(wakeAt - now), 0), this.#maxSleep);
    const timer = this.time.setTimeout(() => {
      this.#dueTimerAt = Infinity;
      this.look();
    }, ms);
    this.#clearDelayTimer();
    this.#delayTimer = timer;
    this.#dueTimerAt = wakeAt;
    if (!this.#ref) unref(timer);
  }

  #clearDelayTimer(): void {
    if (this.#dueTimerAt === Infinity) return;
    this.#dueTimerAt = Infinity; // first, because the clock may throw
    this.time.clearTimeout(this.#delayTimer);
  }

  /** Clears the timer if no item is delayed. */
  #clearIfIdle(): void {
    if (this.#delays.smallest === Infinity && this.batch === undefined) this.#clearDelayTimer();
  }

  /** Makes retries ready that have budget now, and due items, before a pending call gets the first of them. */
  override look(): void {
    try {
      this.#clearDelayTimer();
      this.ordering?.retries?.look(); // blocked retries go before items that are due now
      this.#addSlice();
    } finally {
      this.#setDelayTimer();
      this.#tellLess();
    }
  }

  /**
   * Makes due items ready, the first slice of a new batch or the next one of the current batch, so that the event loop
   * is never blocked for long. Items that become due during a batch are in the next batch.
   */
  #addSlice(): void {
    const now = this.time.now();
    const batch = this.batch ??= {
      time: now,
      readyAt: Math.max(now, this.ordering?.latestReadyAt ?? now),
      isAdding: false,
    };
    const outer = this.batchReadyAt; // set if this slice runs within another slice
    this.batchReadyAt = batch.readyAt;
    batch.isAdding = true;
    let isOver = true;
    try {
      isOver = this.#addSome(batch, now);
    } finally {
      this.batchReadyAt = outer;
      batch.isAdding = false;
      if (isOver && this.batch === batch) this.batch = this.#flushed = undefined;
    }
  }

  /** Makes the items of one slice ready. Reports whether the batch is over. */
  #addSome(batch: Batch, now: number): boolean {
    for (let count = 1; this.batch === batch; count++) { // a discipline may shut the queue down
      const flushed = this.#flushed;
      if (flushed === undefined ? !(this.#delays.smallest <= batch.time) : flushed.length === 0) return true;
      if (count % ITEMS_PER_LOOK === 0 && isRealTime(this.time)) {
        burst.isTooLong(); // starts a burst if there is none, so that the slice's time counts toward the burst's limit
        if (this.time.now() >= now + MAX_SLICE) return false;
      }
      this.#addNextDue((flushed ?? this.#delays).shift());
    }
    return true;
  }

  /**
   * Drops all delayed items, except items that were added while they were delayed after a failure: these become ready,
   * in slices. Returns a function that reports the dropped items to `onDrop`.
   */
  #drop(): () => void {
    const folded = this.isShutDown ? [] : [...this.#folded].sort((one, other) => this.#compareDelays(one, other));
    const dropped = this.#onDrop === undefined ? [] : this.#itemsToDrop();
    const flushed = this.#flushed;
    const delays = this.#delays;
    this.#delays = new RecordHeap();
    this.#flushed = undefined;
    if (folded.length > 0) {
      this.#flushed = new RecordHeap();
      for (const record of folded) {
        this.#moveToFlush(delays.has(record) ? delays : flushed!, [record]);
        this.records.setState(record, this.records.stateOf(record) & ~RETRY_DELAYED);
      }
    }
    this.batch = undefined;
    this.#clearIfIdle();
    if (delays.length + (flushed?.length ?? 0) > folded.length) this.#forgetDropped();
    if (folded.length > 0) {
      this.#addSlice();
      this.#setDelayTimer();
    }
    return () => {
      this.lostDelayed();
      for (const item of dropped) this.#tellDropped(item);
    };
  }

  /** Called when delayed items were dropped. */
  protected lostDelayed(): void {}

  /** Clears the delays of dropped items in their records, in slices. */
  #forgetDropped(): void {
    const records = this.records.used();
    inSlices(() => {
      const { done, value: record } = records.next();
      if (done) return false;
      const state = this.records.stateOf(record);
      const isDropped = (state & DELAYED) !== 0 && !this.#isDelayed(record);
      if (isDropped) this.#forgetDelay(record, state);
      return true;
    }, this.time);
  }

  /** Compares the places of two delayed records in the order in which they become ready. */
  #compareDelays(one: number, other: number): number {
    const [heap, otherHeap] = [this.#heapOf(one)!, this.#heapOf(other)!];
    if (heap !== otherHeap) return heap === this.#flushed ? -1 : 1;
    return heap.numberOf(one) - heap.numberOf(other) || heap.orderOf(one) - heap.orderOf(other);
  }

  #itemsToDrop(): T[] {
    const items: T[] = [];
    for (const record of this.records.used()) {
      if (this.#isDelayed(record) && !this.#folded.has(record)) items.push(delayedItemOf(this.records, record) as T);
    }
    return items;
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

  /**
   * Updates the gauge, and notifies pending drains and watchers. Must be called when the number of delayed keys may
   * have decreased.
   */
  #tellLess(): void {
    if (this.#delayedGauge !== undefined) this.#measureDelayed();
    if (this.#isEnding || this.drainers.length > 0) this.#closeWhenNothingIsLeft();
    this.serve();
  }

  #measureDelayed(): void {
    if (this.delayed === this.#delayedMeasured) return;
    this.#delayedMeasured = this.delayed;
    this.#delayedGauge!.set(this.delayed);
  }

  /**
   * Continues a shutdown or a drain: closes the queue once no item is delayed. If the drain accepts retries, a
   * processing item may be delayed again. In that case, no item may be ready, blocked or processing either.
   */
  #closeWhenNothingIsLeft(): void {
    if (this.#isEnding && this.delayed === 0) {
      this.#isEnding = false;
      super.shutDown();
      this.#clearIfIdle();
    }
    if (this.drainers.length === 0 || this.delayed > 0) return;
    if (this.#draining !== "drop" && this.size > 0 && !this.isShutDown) {
      this.#stopWatching ??= this.watch(() => this.#closeWhenNothingIsLeft());
    } else {
      this.#endWatch();
      this.close();
      this.#clearIfIdle();
    }
  }

  #endWatch(): void {
    this.#stopWatching?.();
    this.#stopWatching = undefined;
  }
}

/** Reports whether a key is ready, or will be once it is done. A key that `folds` does not become ready then. */
function isComing(state: number, folds = false): boolean {
  const position = state & POSITION;
  return position === AGAIN ? !folds : position !== 0 && position < PROCESSING;
}
