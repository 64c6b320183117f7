import { A_POSITIVE_INTEGER, requireRule } from "../base/arguments.ts";
import { type Clock, MAX_TIMEOUT, systemClock, unref } from "../base/clock.ts";
import type { Duration } from "../base/duration.ts";
import { invalidArgument } from "../base/errors.ts";
import { INSPECTION, setBrand } from "../base/brands.ts";
import { titleOf } from "../base/inspection.ts";
import { isSameKey } from "../base/keys.ts";
import type { MetricsProvider } from "../contracts/metrics.ts";
import type { ObservedQueue, QueueObserver } from "../contracts/queue_inspection.ts";
import type {
  AddOptions,
  DrainOptions,
  Lease,
  QueueSnapshot,
  Shutdown,
  SnapshotOptions,
  WorkQueue,
  WorkQueueOptions,
} from "../contracts/work_queue.ts";
import { RecentHandOuts } from "../structures/recent_hand_outs.ts";
import { RecentTime } from "../structures/recent_time.ts";
import { NONE, PLACE, Records } from "../structures/records.ts";
import { Waiters } from "../structures/waiters.ts";
import { IDLE, Waits, Watchers } from "../structures/watchers.ts";
import { FifoOrder } from "./fifo_order.ts";
import { noGroups, PAUSE, RESUME } from "./groups.ts";
import { iterateItems } from "./item_iterator.ts";
import { measuringOf } from "./opt_ins.ts";
import { limitOf, priorityOf, readDrainOptions, signalOf } from "./options.ts";
import { noReadyItem, type Order, type OrderGroups, orderOf } from "./order.ts";
import {
  AGAIN,
  BLOCKED,
  DELAYED,
  EXEMPT,
  NEEDS_BUDGET,
  POSITION,
  PROCESSING,
  READY,
  REFUSED,
  REMEMBERED,
  REPEATED,
} from "./positions.ts";
import type { AddSlice } from "./slices.ts";

/**
 * Largest number of processing keys for which a separate set is created. If more keys are processing, a scan of all
 * records quickly finds some of them.
 */
const FEW = 10_000;

/**
 * Lease on a key, for a single hand-out of the key. A lease is stale once its key is done, even if the key is handed
 * out again.
 */
export class RecordLease<T> implements Lease<T> {
  readonly item: T;
  readonly priority: number;
  readonly key: unknown;
  // Few leases have the following properties, so they cost the others nothing.
  /** Time at which an attempt of a pool began, if the queue remembers failures of the key. */
  declare startedAt?: number;
  /** Whether the limiter has said that a failure of the attempt is not counted. */
  declare isIgnored?: boolean;
  readonly #queue: RecordQueue<T>;
  readonly #record: number;
  readonly #handOut: number;

  constructor(queue: RecordQueue<T>, record: number, handOut: number, key: unknown, item: T, priority: number) {
    this.item = item;
    this.priority = priority;
    this.key = key;
    this.#queue = queue;
    this.#record = record;
    this.#handOut = handOut;
  }

  get shutdown(): false {
    return false;
  }

  /**
   * Returns a new function each time, so that the function also works when it is destructured. The function takes no
   * memory until the property is read.
   */
  get addedAgain(): () => boolean {
    return () => this.position === AGAIN;
  }

  /** Position of the key while the hand-out lasts; 0 after it. */
  get position(): number {
    return this.#queue.positionOf(this.#record, this.#handOut);
  }

  /** Returns the record of the key, even if the hand-out is over; `NONE` if the key has none. */
  recordIn(records: Records): number {
    const isHeld = (records.stateWith(this.#record, this.#handOut) & POSITION) >= PROCESSING;
    return isHeld ? this.#record : records.of(this.key);
  }

  [Symbol.dispose](): void {
    this.#queue.finish(this.#record, this.#handOut);
  }
}

/** Newest item of a key that was added again, if it is not the key, and the priority with which it was added. */
interface Next {
  item: unknown;
  priority: number;
}

const SHUTDOWN: Shutdown = Object.freeze({ item: undefined, shutdown: true, [Symbol.dispose]() {} });

/** Work queue with one record per key. An {@linkcode Order} decides which ready key is next. */
export class RecordQueue<T> implements WorkQueue<T>, ObservedQueue {
  readonly name: string;
  keyOf?(item: T): unknown;
  readonly clock?: Clock;
  readonly #order: Order;
  readonly #usesTime: boolean;
  readonly #isFifo: boolean;
  /** Records of the keys. The link of a processing key is the number of its hand-out. */
  readonly records: Records;
  /** Adds of processing keys, except adds of the key itself without a priority. */
  readonly #next = new Map<number, Next>();
  /** Number of keys that are ready, blocked or processing. */
  size = 0;
  /** Whether `beforeTaken` and `taken` are called. */
  protected tellsTaken = false;
  /** Number of retries that wait for budget. */
  protected waiting = 0;
  /** Time from which the next of them is let through when somebody looks. `Infinity` until the queue is shut down. */
  protected opensAt = Infinity;
  /** Record of the latest hand-out, because that hand-out often ends first. */
  #latest = NONE;
  #latestKey: unknown = undefined;
  /** Latest hand-outs that last and began while other keys were processing; `undefined` until there is one. */
  #recent: RecentHandOuts | undefined = undefined;
  /** Number of hand-outs so far. */
  #handedOut = 0;
  #processing = 0;
  /**
   * Ready records that the order refused, the first first. They are handed out before those of the order. `undefined`
   * until the order first refuses one.
   */
  #refused: number[] | undefined = undefined;
  /** Records of the processing keys. Created the first time a snapshot has to find a few of them among all records. */
  #worked: Set<number> | undefined = undefined;
  /** Observer for the metrics of the queue, or for a display. */
  #observer: QueueObserver | undefined;
  /** Provider that has the queue's metrics; `undefined` if the queue has none. */
  readonly provider: MetricsProvider | undefined;
  /** Pending calls to `get`. While calls are pending, no item is ready, except during a slice. */
  readonly #getters = new Waiters<RecordLease<T> | Shutdown>(() => void this.#setTimer());
  /** Whether pending calls to `get` are being served now. */
  #isServing = false;
  /** Number of keys that are processing and were added again. */
  #comingBack = 0;
  /** Pending calls to `shutDownWithDrain`. */
  readonly #drainers = new Waiters<void>(() => this.shutDown());
  /** Callbacks to call after each change. */
  readonly #watchers = new Watchers();
  /** Whether a pending call or a callback must be told of changes. */
  #hasCallers = false;
  /**
   * Whether anything must be told of changes: a caller or an observer. If not, adding, handing out and ending an item
   * skip all of them with one look at this field.
   */
  #isAttended = false;
  /**
   * Calls `callback` when the queue has more or less to do: an item became ready, was handed out or is done, or the
   * queue was shut down. Returns an unsubscribe function.
   */
  readonly watch = (callback: () => void): () => void => {
    this.#isAttended = this.#hasCallers = true;
    if (this.#watchers.size === 0) this.#toldReady = false;
    const stop = this.#watchers.add(callback);
    this.#setTimer(true);
    return () => {
      stop();
      if (!this.#isAwaited) this.#sleepUntil(Infinity);
    };
  };
  /** Whether an item was ready when the watchers were last told of a change. */
  #toldReady = false;
  readonly #waits = new Waits((count) => this.isWaitOver(count), this.watch);
  /** Whether the queue is shut down or drains. */
  protected ignoresAdds = false;
  /** Whether the queue is shut down: no delayed item will become ready. */
  protected isShutDown = false;
  readonly time: Clock;
  protected readonly recentTime: RecentTime;
  /** Time at which the latest key became ready; `-Infinity` if the order doesn't use times. It is never set back. */
  #latestReadyAt = -Infinity;
  /** Number of batches whose keys are being added. All keys of a batch become ready together. */
  #batches = 0;
  /** Time at which the keys of the current batch became ready; `undefined` if no slice of a batch is being added. */
  #batchReadyAt: number | undefined = undefined;
  /** Whether the queue is paused or a batch has begun. If not, the number of ready items takes only one look. */
  #mayBeHeld = false;
  /** Time until which no item is handed out; `undefined` if the queue is not paused. */
  #pausedUntil: number | undefined = undefined;
  /** Timer for the next time at which blocked items become ready, and that time; `Infinity` if no timer is set. */
  #timer: unknown = undefined;
  #wakeAt = Infinity;
  /** Longest time for which the timer runs, and whether it keeps the process alive. */
  protected sleep: { readonly max: number; readonly ref: boolean } = { max: MAX_TIMEOUT, ref: true };

  constructor(options: WorkQueueOptions<T>) {
    const { name = "", keyOf, discipline, clock, metrics, priorityLevels } = options;
    this.name = name;
    if (keyOf !== undefined) this.keyOf = keyOf;
    if (clock !== undefined) this.clock = clock;
    const time = this.time = clock ?? systemClock;
    this.recentTime = new RecentTime(time);
    const records = this.records = new Records(keyOf !== undefined, discipline !== undefined);
    this.#order = discipline === undefined ? new FifoOrder(records) : orderOf(discipline, records, time);
    this.#usesTime = this.#order.usesTime;
    this.#isFifo = this.#order.isFifo;
    if (metrics !== undefined && name !== "") {
      this.#observer = measuringOf(metrics).observerOf(this, metrics, priorityLevels);
      this.provider = metrics;
    }
    setBrand(this, INSPECTION, this);
    this.#isAttended = this.#observer !== undefined;
  }

  /** Number of items that were handed out. */
  get handedOut(): number {
    return this.#handedOut;
  }

  /** Time until which no item is handed out; `undefined` if the queue is not paused. */
  get pausedUntil(): number | undefined {
    return this.#pausedUntil;
  }

  /** Replaces the observer of the queue's keys. */
  observe(change: Parameters<ObservedQueue["observe"]>[0]): void {
    this.#observer = change(this.#observer);
    this.#isAttended = this.#hasCallers || this.#observer !== undefined;
  }

  get length(): number {
    if (this.#mayBeHeld && this.isHeld()) return 0;
    const isPlain = this.#isFifo && this.#refused === undefined && this.opensAt === Infinity;
    return isPlain ? this.#order.length : this.ready;
  }

  get processing(): number {
    return this.#processing;
  }

  get shuttingDown(): boolean {
    return this.ignoresAdds;
  }

  add(item: T, options?: AddOptions): void {
    const priority = options === undefined ? 0 : priorityOf(options);
    if (!this.ignoresAdds) this.addNow(this.key(item), item, priority);
  }

  /** Adds an item without a delay. */
  protected addNow(key: unknown, item: T, priority: number): void {
    const record = this.records.of(key);
    if (record === NONE) this.addNew(key, item, priority, 0);
    else this.addToKnown(record, this.records.stateOf(record), item, priority, 0);
  }

  get(options?: { signal?: AbortSignal | undefined }): Promise<RecordLease<T> | Shutdown> {
    try {
      const signal = signalOf("get item", options);
      if (signal?.aborted) throw signal.reason;
      while (!this.hasFree()) {
        if (this.isOver()) return Promise.resolve(SHUTDOWN);
        this.#isAttended = this.#hasCallers = true;
        // Before the wait, because the clock may throw, and nobody would get the item of the wait.
        if (this.#setTimer(true)) return this.#getters.wait(signal);
      }
      return Promise.resolve(this.take());
    } catch (error) {
      return Promise.reject(error);
    }
  }

  tryGet(): RecordLease<T> | undefined {
    return this.hasFree() ? this.take() : undefined;
  }

  done(item: T): void {
    const key = this.key(item);
    const latest = this.#latest;
    const record = latest !== NONE && this.#latestKey === key ? latest : this.#recordOf(key);
    if (record === NONE) return;
    const state = this.records.stateOf(record);
    if ((state & POSITION) >= PROCESSING) this.end(record, state);
  }

  shutDown(): void {
    this.#close();
    this.#drainers.serveAll();
  }

  shutDownWithDrain(options?: DrainOptions): Promise<void> {
    try {
      const { signal } = readDrainOptions(options);
      if (signal?.aborted) {
        this.shutDown();
        return Promise.reject(signal.reason);
      }
      this.#close();
      if (this.size === 0) return Promise.resolve();
      this.#isAttended = this.#hasCallers = true;
      return this.#drainers.wait(signal);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async whenIdle(options?: { signal?: AbortSignal | undefined }): Promise<void> {
    await this.#waits.wait(IDLE, signalOf("wait for idle queue", options));
  }

  async whenBelow(count: number, options?: { signal?: AbortSignal | undefined }): Promise<void> {
    const signal = signalOf("wait for fewer items", options);
    requireRule("wait for fewer items", "count", count, A_POSITIVE_INTEGER);
    await this.#waits.wait(count, signal);
  }

  pauseGroup(group: unknown, duration: Duration): void {
    const groups = this.#groupsFor(PAUSE);
    const ms = groups.readDuration?.(PAUSE, "duration", duration) ?? duration as number;
    if (!Number.isFinite(ms)) throw invalidArgument(PAUSE, "duration", "must be a finite number", duration);
    groups.pauseGroup(group, this.time.now() + ms);
    this.#setTimer();
  }

  resumeGroup(group: unknown): void {
    this.#groupsFor(RESUME).resumeGroup?.(group);
    this.serve();
  }

  snapshot(options?: SnapshotOptions): QueueSnapshot<T> {
    const limit = limitOf(options);
    const { length } = this;
    return {
      name: this.name,
      ready: length,
      blocked: this.blocked,
      delayed: 0,
      processing: this.#processing,
      readyItems: this.#listReady(Math.min(limit, length))
        .map((record) => ({ item: this.itemOf(record), priority: this.records.priorityOf(record) })),
      delayedItems: [],
      processingItems: this.#listProcessing(limit)
        .map((record) => ({
          item: this.itemOf(record),
          priority: this.records.priorityOf(record),
          addedAgain: this.positionIn(record) === AGAIN,
        })),
    };
  }

  toString(): string {
    const type = "addRateLimited" in this ? "RateLimiting" : "addAfter" in this ? "Delaying" : "Work";
    return titleOf(`${type}Queue`, this.name);
  }

  [Symbol.dispose](): void {
    this.shutDown();
  }

  [Symbol.asyncIterator](): AsyncIterator<T, void, void> {
    return iterateItems(this);
  }

  /**
   * Reports whether the queue is shut down and nothing is ready or blocked. Once nothing is ready or blocked after a
   * shutdown, only keys that were added again while processing can still be handed out.
   */
  isOver(): boolean {
    return this.isShutDown && this.ready === 0 && this.#order.blocked === 0 && this.waiting === 0;
  }

  /**
   * Reports whether any processing key was added again, or any key is blocked. Such a key becomes ready, even after a
   * shutdown.
   */
  mayComeBack(): boolean {
    return this.#comingBack > 0 || this.blocked > 0;
  }

  /** Hands out nothing for some time, in milliseconds. If the queue is already paused, the later end applies. */
  pauseFor(ms: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil ?? -Infinity, this.time.now() + ms);
    this.#mayBeHeld = true;
    this.#setTimer();
  }

  /** Returns the position of a key during a hand-out; 0 after it. */
  positionOf(record: number, handOut: number): number {
    const position = this.records.stateWith(record, handOut) & POSITION;
    return position >= PROCESSING ? position : 0;
  }

  /** Ends a hand-out, unless it has already ended. */
  finish(record: number, handOut: number): void {
    const state = this.records.stateWith(record, handOut);
    if ((state & POSITION) >= PROCESSING) this.end(record, state);
  }

  /** Ends the hand-out of a processing key. A key that was added again becomes ready. */
  protected end(record: number, state: number): void {
    this.#latest = NONE;
    this.#latestKey = undefined; // lets the key be garbage collected
    this.#processing--;
    if (this.#recent !== undefined) this.#recent.remove(this.records.linkOf(record), record);
    if (this.#worked !== undefined) this.#worked.delete(record);
    if (this.#isAttended) this.#endAttended(record, state);
    else this.#leaveOrComeBack(record, state);
  }

  /** Returns the record of a key, which is often one of the latest hand-outs; `NONE` if the key has none. */
  #recordOf(key: unknown): number {
    const recent = this.#recent === undefined ? NONE : this.#recent.find(key);
    return recent === NONE ? this.records.of(key) : recent;
  }

  #leaveOrComeBack(record: number, state: number): void {
    if ((state & POSITION) === AGAIN) this.#comeBack(record, state);
    else if (state !== PROCESSING || this.#order.awaitsDone) this.#leave(record, state);
    else {
      this.size--;
      this.records.free(record);
    }
  }

  #endAttended(record: number, state: number): void {
    const observer = this.#observer;
    const key = this.records.keyOf(record);
    const handOut = this.records.linkOf(record);
    const startedAt = observer?.leaving(record);
    try {
      this.#leaveOrComeBack(record, state);
    } finally {
      observer?.finished(key, startedAt, handOut);
      this.#tellCallers(); // the discipline may have blocked other keys until this key was done
    }
  }

  /** Number of keys that are ready, even if nothing is handed out now. */
  protected get ready(): number {
    const order = this.#order;
    if (order.nextChangeAt! < Infinity) order.look?.();
    if (this.opensAt < Infinity) this.openBudget();
    return this.#refused === undefined ? order.length : order.length + this.#refused.length;
  }

  /** Number of items that are blocked. */
  get blocked(): number {
    return this.ready - this.length + this.#order.blocked + this.waiting;
  }

  /** Reports whether ready items are not handed out now: the queue is paused, or a batch of items is not complete. */
  protected isHeld(): boolean {
    if (this.#batches > 0 && !this.#isFifo) return true;
    if (this.#pausedUntil !== undefined) {
      if (this.time.now() < this.#pausedUntil) return true;
      this.#pausedUntil = undefined;
    }
    this.#mayBeHeld = this.#batches > 0;
    return false;
  }

  /** Groups of the keys; `undefined` if they have none. */
  get groups(): OrderGroups | undefined {
    return this.#order.groups;
  }

  #groupsFor(action: string): OrderGroups {
    const { groups } = this;
    if (groups === undefined) throw noGroups(action);
    return groups;
  }

  protected key(item: T): unknown {
    return this.keyOf === undefined ? item : this.keyOf(item);
  }

  protected itemOf(record: number): T {
    return this.records.itemOf(record) as T;
  }

  protected positionIn(record: number): number {
    return this.records.stateOf(record) & POSITION;
  }

  /**
   * Adds an item whose key has no record.
   *
   * @param marks Kind of the next attempt: `NEEDS_BUDGET`, or 0 for a first attempt.
   */
  protected addNew(key: unknown, item: T, priority: number, marks: number): void {
    const record = this.records.take(key, READY | marks, item, priority);
    this.size++;
    if (marks === 0 && this.#isFifo) this.#order.push(record); // never throws
    else this.#enter(record, marks, false);
    if (this.#isAttended) this.#tellAdded(record);
  }

  /** Adds an item whose key has a record, and may be delayed. */
  protected addToKnown(record: number, state: number, item: T, priority: number, marks: number): void {
    if ((state & DELAYED) !== 0) this.addBesideDelay(record, item, priority, marks);
    else if (state !== READY || !this.#isFifo) this.addToRecord(record, item, priority, marks);
    else {
      if (this.keyOf !== undefined) this.records.setItem(record, item);
      this.#raise(record, priority);
    }
  }

  #raise(record: number, priority: number): void {
    if (priority > this.records.priorityOf(record)) this.records.setPriority(record, priority);
  }

  /** Adds an item whose key has a record, and may be delayed. */
  protected addBesideDelay(record: number, item: T, priority: number, marks: number): void {
    this.addToRecord(record, item, priority, marks);
  }

  /** Adds an item whose key has a record. A delay of the key is not affected. */
  protected addToRecord(record: number, item: T, priority: number, marks: number): void {
    const position = this.positionIn(record);
    if (position >= PROCESSING) return this.#addToProcessing(record, position, item, priority, marks);
    if (position !== 0) return this.touch(record, item, priority, marks);
    this.#makeReady(record, this.records.stateOf(record) | marks, item, priority);
    this.size++;
    this.#enter(record, marks, false);
    if (this.#isAttended) this.#tellAdded(record);
  }

  /** Adds an item whose key is processing. */
  #addToProcessing(record: number, position: number, item: T, priority: number, marks: number): void {
    const next = this.#next.size === 0 ? undefined : this.#next.get(record);
    // A retry of the item that is processing doesn't replace a newer one.
    const newest = next === undefined || !isSameKey(item, this.itemOf(record)) ? item : next.item;
    const highest = Math.max(priority, next?.priority ?? (position === AGAIN ? 0 : priority));
    if (this.keyOf !== undefined || highest !== 0 || next !== undefined) {
      this.#next.set(record, { item: newest, priority: highest });
    }
    if (marks === 0 || position === PROCESSING) this.mark(record, marks); // an add that is no retry counts more
    if (position === AGAIN) return;
    this.records.setState(record, this.records.stateOf(record) + AGAIN - PROCESSING);
    this.#comingBack++;
    this.#observer?.addedAgain(record, priority);
  }

  /** Sets what the next attempt at a key is. */
  protected mark(record: number, marks: number): void {
    const state = this.records.stateOf(record);
    if ((state & (NEEDS_BUDGET | EXEMPT)) !== marks) {
      this.records.setState(record, state & ~(NEEDS_BUDGET | EXEMPT) | marks);
    }
  }

  /** Adds an item whose key is ready or blocked. The add may unblock the key, or others. */
  protected touch(record: number, item: T, priority: number, marks: number): void {
    const { records } = this;
    const order = this.#order;
    const before = records.priorityOf(record);
    if (this.#isFifo || (records.stateOf(record) & (POSITION | REFUSED)) !== READY) {
      if (this.keyOf !== undefined) records.setItem(record, item);
      this.#raise(record, priority);
      if (this.waiting === 0 || marks !== 0 || this.positionIn(record) !== BLOCKED) return;
      this.unblock(record);
      return this.serve();
    }
    const mayUnblock = this.#hasCallers && order.blocked > 0;
    const itemBefore = this.itemOf(record);
    records.setItem(record, item);
    this.#raise(record, priority);
    try {
      order.touch(record, before);
    } catch (error) {
      records.setItem(record, itemBefore);
      records.setPriority(record, before);
      throw error;
    }
    if (mayUnblock) this.serve();
  }

  /** Lets retries through for which there is budget now. Called if there may be some after a shutdown. */
  protected openBudget(): void {}

  /** Called when a retry that waits for budget was added. */
  protected unblock(_record: number): void {}

  /** Clears the mark that a processing key was added again. Returns the priority with which it was added again. */
  protected unmark(record: number): number {
    this.#comingBack--;
    this.records.setState(record, this.records.stateOf(record) + PROCESSING - AGAIN);
    this.mark(record, 0);
    this.#observer?.unmarked(record);
    return this.#takeNext(record).priority;
  }

  /** Takes the item and the priority with which a processing key was added again. */
  #takeNext(record: number): Next {
    const next = this.#next.get(record) ?? { item: this.itemOf(record), priority: 0 };
    this.#next.delete(record);
    return next;
  }

  /** Returns the newest item of a key that is processing; `undefined` if another item of the key was handed out. */
  protected newestOf(record: number, item: T): T | undefined {
    if (this.positionIn(record) < PROCESSING || !isSameKey(this.itemOf(record), item)) return undefined;
    return this.#next.has(record) ? this.#next.get(record)!.item as T : item;
  }

  /** Reports whether a wait for this count is over. */
  protected isWaitOver(count: number): boolean {
    if (count === IDLE) return this.size === 0;
    return this.ignoresAdds || this.hasFewer(count);
  }

  /** Reports whether fewer than `count` items are ready or blocked. */
  protected hasFewer(count: number): boolean {
    return this.ready < count && this.ready + this.#order.blocked + this.waiting < count;
  }

  /** Sets the time at which a key became ready. */
  #setTime(record: number): void {
    const time = this.#batchReadyAt ?? this.recentTime.now();
    if (time > this.#latestReadyAt) this.#latestReadyAt = time;
    this.records.setTime(record, this.#batchReadyAt ?? this.#latestReadyAt);
  }

  /** Sets the position of a key that has become ready, its item and its priority. The state has no position. */
  #makeReady(record: number, state: number, item: unknown, priority: number): void {
    const { records } = this;
    records.setState(record, state | READY);
    if (this.keyOf !== undefined) records.setItem(record, item);
    records.setPriority(record, priority);
  }

  /**
   * Passes a ready key to the order, unless it is a retry without budget.
   *
   * @param isKept Whether the key stays ready if the order refuses it. If not, its position is cleared.
   */
  #enter(record: number, marks: number, isKept: boolean): void {
    const handedOut = this.#handedOut;
    try {
      if (this.#usesTime) this.#setTime(record);
      if (marks === 0) this.pushToOrder(record);
      else this.pushMarked(record, marks);
    } catch (error) {
      if (this.#handedOut !== handedOut) throw error; // the key was handed out before the error
      if (isKept) this.#refuse(record);
      else this.#forgetPosition(record, this.records.stateOf(record));
      throw error;
    }
  }

  /** Called for a ready key whose next attempt is no first attempt. Only queues with a retry budget have such keys. */
  protected pushMarked(_record: number, _marks: number): void {}

  protected pushToOrder(record: number): void {
    const order = this.#order;
    if (order.begin !== undefined && order.length + order.blocked === 0) order.begin();
    order.push(record);
  }

  #refuse(record: number): void {
    this.records.setState(record, this.records.stateOf(record) | REFUSED);
    (this.#refused ??= []).push(record);
  }

  /** Removes a key that was processing. */
  #leave(record: number, state: number): void {
    if (!this.#order.awaitsDone || (state & REFUSED) !== 0) return this.#forgetPosition(record, state);
    const page = this.#clearPosition(record, state) ? this.records.remove(record) : undefined;
    try {
      this.#order.done(record);
    } finally {
      if (page !== undefined) this.records.release(record, page);
    }
  }

  #forgetPosition(record: number, state: number): void {
    if (this.#clearPosition(record, state)) this.records.free(record);
  }

  /** Clears a key's position. Reports whether nothing else must be known of the key. */
  #clearPosition(record: number, state: number): boolean {
    this.size--;
    const rest = state & ~(POSITION | REFUSED | NEEDS_BUDGET | EXEMPT | REPEATED);
    if (rest === 0) return true;
    this.records.setState(record, rest);
    if (this.keyOf !== undefined && (rest & REMEMBERED) === 0) this.records.setItem(record, undefined);
    return false;
  }

  /** Makes a processing key ready that was added again. */
  #comeBack(record: number, state: number): void {
    this.#comingBack--;
    const { item, priority } = this.#takeNext(record);
    try {
      if (this.#order.awaitsDone && (state & REFUSED) === 0) this.#order.done(record);
    } finally {
      const rest = this.records.stateOf(record) & ~(POSITION | REFUSED | REPEATED);
      this.#makeReady(record, rest, item, priority);
      const handedOut = this.#handedOut;
      try {
        this.#enter(record, rest & (NEEDS_BUDGET | EXEMPT), true);
      } finally {
        if (this.#handedOut === handedOut) this.#observer?.ready(record);
      }
    }
  }

  /**
   * Adds an item whose delay has passed. If the order refuses the item, it becomes ready nevertheless.
   *
   * @throws The error of the order or the clock. After an error, the key's position shows whether the item is kept.
   */
  protected addDue(record: number, state: number, item: T, priority: number, marks: number): void {
    if ((state & POSITION) !== 0) {
      try {
        return this.addToRecord(record, item, priority, marks);
      } catch (error) {
        this.records.setItem(record, item);
        throw error;
      }
    }
    this.#makeReady(record, state | marks, item, priority);
    this.size++;
    try {
      this.#enter(record, marks, true);
    } finally {
      if (this.#isAttended) this.#tellAdded(record);
    }
  }

  #tellAdded(record: number): void {
    this.#observer?.added(record);
    this.#tellCallers();
  }

  #tellCallers(): void {
    if (this.#hasCallers) this.serve();
    else if (this.size === 0 && this.isShutDown) this.#observer?.end();
  }

  /**
   * Must be called whenever items may have become ready. Hands them to pending calls to `get`, ends pending drains, and
   * tells watchers of the change.
   */
  serve(): void {
    if (this.#getters.length > 0) {
      this.#serveGetters();
      if (this.isShutDown && this.isOver()) this.#getters.serveAll(SHUTDOWN);
    }
    if (this.size === 0 && this.ignoresAdds) {
      this.#drainers.serveAll();
      if (this.isShutDown) this.#observer?.end();
    }
    this.tellWatchers();
    this.#hasCallers = this.#getters.length + this.#drainers.length + this.#watchers.size > 0;
    this.#isAttended = this.#hasCallers || this.#observer !== undefined;
  }

  /**
   * Hands ready items to pending calls to `get`. After an error, the call to `get` rejects, but the call that added the
   * item does not throw, because the item was added successfully.
   */
  #serveGetters(): void {
    if (this.#isServing || this.#batchReadyAt !== undefined) return; // a caller up the stack will serve them
    this.#isServing = true;
    try {
      while (this.#getters.length > 0 && this.length > 0) {
        const getter = this.#getters.shift();
        try {
          getter.resolve(this.take());
        } catch (error) {
          getter.reject(error);
        }
      }
    } finally {
      this.#isServing = false;
    }
  }

  /** Reports whether an item is ready that no pending call to `get` must receive first. */
  protected hasFree(): boolean {
    if (this.#getters.length > 0) this.#serveGetters(); // a block may have ended with time
    return this.#getters.length === 0 && this.length > 0;
  }

  /** Whether a call or a callback awaits a change. */
  get #isAwaited(): boolean {
    return this.#getters.length > 0 || this.#watchers.size > 0;
  }

  protected tellWatchers(): void {
    if (this.#watchers.size > 0) {
      this.#toldReady = this.length > 0;
      this.#watchers.tell();
    }
    const { nextChangeAt = Infinity } = this.#order;
    const changeAt = Math.min(nextChangeAt, this.opensAt);
    if (changeAt < Infinity || this.#pausedUntil !== undefined || this.#wakeAt < Infinity) this.#setTimer();
  }

  /**
   * Sets the timer for the next time at which blocked items become ready. The timer is set only if no item is ready,
   * and a call or a callback awaits one. If a block has ended and nobody has been told, serves first.
   *
   * @param isNew Whether a call or a callback is about to wait, or has just begun to. Then, nobody is served.
   * @returns Whether no item is ready that the new call could get.
   */
  #setTimer(isNew = false): boolean {
    const isReady = this.length > 0; // first, because this may end a block
    const changeAt = this.#pausedUntil ?? Math.min(this.#order.nextChangeAt ?? Infinity, this.opensAt);
    if (isNew) {
      if (!isReady) this.#sleepUntil(changeAt);
    } else if (isReady && this.#isUntold) this.serve();
    else this.#sleepUntil(this.#isAwaited && !isReady ? changeAt : Infinity);
    return !isReady || this.#isServing || this.#batchReadyAt !== undefined;
  }

  /** Whether a call or a callback has not been told that an item is ready. */
  get #isUntold(): boolean {
    const mayServe = this.#getters.length > 0 && !this.#isServing && this.#batchReadyAt === undefined;
    return mayServe || (this.#watchers.size > 0 && !this.#toldReady);
  }

  #sleepUntil(wakeAt: number): void {
    if (wakeAt === this.#wakeAt) return;
    const hadTimer = this.#wakeAt !== Infinity;
    this.#wakeAt = Infinity; // until the timer is set, because the clock may throw
    if (hadTimer) this.time.clearTimeout(this.#timer);
    if (wakeAt === Infinity) return;
    const ms = Math.min(Math.max(Math.ceil(wakeAt - this.time.now()), 1), this.sleep.max);
    this.#timer = this.time.setTimeout(() => this.#wake(), ms);
    if (!this.sleep.ref) unref(this.#timer);
    this.#wakeAt = wakeAt;
  }

  /** Hands out items that have become ready with time. If the discipline throws, a pending call to `get` rejects. */
  #wake(): void {
    this.#wakeAt = Infinity;
    try {
      this.serve();
    } catch (error) {
      if (this.#getters.length > 0) this.#getters.shift().reject(error);
    }
  }

  protected beginBatch(time: number): AddSlice {
    const readyAt = Math.max(time, this.#latestReadyAt); // the clock may be set back
    this.#batches++;
    this.#mayBeHeld = true;
    return (action) => {
      const outer = this.#batchReadyAt; // set if this slice runs within another slice
      this.#batchReadyAt = readyAt;
      let isOver = true;
      try {
        isOver = action();
      } finally {
        this.#batchReadyAt = outer;
        if (isOver) this.#batches--;
        this.serve();
      }
    };
  }

  /** Hands out the next ready item. There must be a ready item. */
  protected take(): RecordLease<T> {
    const records = this.records;
    if (this.tellsTaken) this.beforeTaken();
    const refused = this.#refused === undefined ? undefined : this.#refused.shift();
    const record = refused ?? this.#order.pop();
    if (record === NONE) throw noReadyItem();
    if (this.tellsTaken && refused === undefined) this.taken(record);
    const handOut = ++this.#handedOut | 0; // a 32-bit number, because it is the link
    const page = records.pageOf(record);
    const place = record & PLACE;
    page.fields[2 * place]! += PROCESSING - READY;
    page.fields[2 * place + 1] = handOut;
    const isAlone = this.#processing++ === 0;
    this.#latest = record;
    if (this.#worked !== undefined) this.#worked.add(record);
    const key = this.#latestKey = page.keys[place];
    if (!isAlone) (this.#recent ??= new RecentHandOuts()).add(handOut, record, key);
    const item = (page.items === undefined ? key : page.items[place]) as T;
    const priority = page.priorities === undefined ? 0 : page.priorities[place]!;
    const lease = new RecordLease(this, record, handOut, key, item, priority);
    if (this.#isAttended) this.#tellTaken(record);
    return lease;
  }

  /** Called before an item is handed out, if `tellsTaken`. */
  protected beforeTaken(): void {}

  /** Called for each record that the order has handed out, if `tellsTaken`. Must not throw. */
  protected taken(_record: number): void {}

  /** Reports a hand-out. Never throws, because the item would be lost: it is no longer ready, and has no lease yet. */
  #tellTaken(record: number): void {
    try {
      this.#observer?.taken(record);
      if (this.#hasCallers) this.tellWatchers();
    } catch {
      // The clock threw. A measurement or a timer may be missing.
    }
  }

  /**
   * Lists refused keys first, then the keys that the order predicts. Other ready keys follow in no particular order.
   * Some of these keys may be blocked: only the order knows which.
   */
  #listReady(count: number): number[] {
    const ready = new Set(this.#refused?.slice(0, count));
    for (const record of this.#order.peek(count - ready.size)) ready.add(record);
    if (ready.size === count) return [...ready];
    for (const record of this.records.used()) {
      if (this.positionIn(record) === READY) ready.add(record);
      if (ready.size === count) break;
    }
    return [...ready];
  }

  #listProcessing(limit: number): number[] {
    const listed: number[] = [];
    const count = Math.min(limit, this.#processing);
    if (count === 0) return listed;
    if (this.#processing <= FEW) this.#worked ??= new Set(this.#findProcessing(this.#processing));
    for (const record of this.#worked ?? this.#findProcessing(count)) {
      if (listed.push(record) === count) break;
    }
    return listed;
  }

  #findProcessing(count: number): number[] {
    const found: number[] = [];
    for (const record of this.records.used()) {
      if (this.positionIn(record) >= PROCESSING) found.push(record);
      if (found.length === count) break;
    }
    return found;
  }

  #close(): void {
    this.ignoresAdds = this.isShutDown = true;
    this.#observer?.stop();
    this.serve();
  }
}
