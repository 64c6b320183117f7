import { type Clock, systemClock } from "../base/clock.ts";
import { isSameKey } from "../base/keys.ts";
import type { MetricsProvider } from "../contracts/metrics.ts";
import type { ObservedQueue, QueueObserver } from "../contracts/queue_inspection.ts";
import type { AddOptions, WorkQueueOptions } from "../contracts/work_queue.ts";
import { RecentHandOuts } from "../structures/recent_hand_outs.ts";
import { RecentTime } from "../structures/recent_time.ts";
import { NONE, PLACE, Records } from "../structures/records.ts";
import type { BlockedRetries } from "./blocked_retries.ts";
import { FifoOrder } from "./fifo_order.ts";
import { measuringOf } from "./opt_ins.ts";
import { priorityOf } from "./options.ts";
import { type Order, type OrderGroups, orderOf } from "./order.ts";
import {
  AGAIN,
  BLOCKED,
  CANCELLED,
  DELAYED,
  EXEMPT,
  NEEDS_BUDGET,
  POSITION,
  PROCESSING,
  READY,
  REFUSED,
  REMEMBERED,
  REPEATED,
  RETURNING,
} from "./positions.ts";
import { RecordLease } from "./record_lease.ts";

/**
 * Largest number of processing keys for which a separate set is created. If more keys are processing, a scan of all
 * records quickly finds some of them.
 */
const FEW = 10_000;

/**
 * Keys of a queue: one record for each, from its first add until nothing about it must be remembered. An
 * {@linkcode Order} decides which ready key is next.
 *
 * Here are all changes of a key's position: adds, hand-outs and ends. Calls that wait for them are in a derived class.
 */
export abstract class RecordQueue<T> {
  readonly name: string;
  keyOf?(item: T): unknown;
  readonly clock: Clock | undefined;
  readonly time: Clock;
  /** Records of the keys. The link of a processing key is the number of its hand-out. */
  readonly records: Records;
  protected readonly order: Order;
  protected readonly isFifo: boolean;
  readonly #usesTime: boolean;
  protected readonly recentTime: RecentTime;
  /** Number of keys that are ready, blocked or processing. */
  size = 0;
  /** Number of keys that are processing. */
  processing = 0;
  /** Number of hand-outs so far. */
  handedOut = 0;
  /** Number of keys that are processing and were added again. */
  #comingBack = 0;
  /** Record of the latest hand-out, because that hand-out often ends first. */
  #latest = NONE;
  #latestKey: unknown = undefined;
  /** Latest hand-outs that last and began while other keys were processing; `undefined` until there is one. */
  #recent: RecentHandOuts | undefined = undefined;
  /**
   * Ready records that the order refused, the first first. They are handed out before those of the order. `undefined`
   * until the order first refuses one.
   */
  protected refused: number[] | undefined = undefined;
  /** Records of the processing keys. Created the first time a snapshot has to find a few of them among all records. */
  #worked: Set<number> | undefined = undefined;
  /** Whether `beforeTaken` and `taken` are called. */
  protected tellsTaken = false;
  /** Retries that wait for budget; `undefined` if retries need none. */
  retries: BlockedRetries | undefined = undefined;
  /** Number of retries that wait for budget. */
  protected waiting = 0;
  /** Whether the queue is shut down or drains. */
  protected ignoresAdds = false;
  /** Whether the queue is shut down: no delayed item will become ready. */
  protected isShutDown = false;
  /**
   * Whether all ready and blocked items are in the order, which is first in, first out, at any time: so far, no retry
   * was blocked, no item was refused, and the queue was not paused.
   */
  protected isPlain: boolean;
  /** Whether `isHeld` must be asked. If not, the number of ready items takes only one look. */
  protected mayBeHeld = false;
  /** Time at which the keys of the current slice became ready; `undefined` if no slice is being added. */
  protected batchReadyAt: number | undefined = undefined;
  /** Time at which the latest key became ready; `-Infinity` if the order doesn't use times. It is never set back. */
  protected latestReadyAt = -Infinity;
  /** Observer for the metrics of the queue, or for a display. */
  protected observer: QueueObserver | undefined;
  /** Provider that has the queue's metrics; `undefined` if the queue has none. */
  readonly provider: MetricsProvider | undefined;
  /** Whether a pending call or a callback must be told of changes. */
  protected hasCallers = false;
  /** Whether a callback must be told. */
  protected isWatched = false;
  /**
   * Whether anything must be told of changes: a caller or an observer. If not, adding, handing out and ending an item
   * skip all of them with one look at this field.
   */
  protected isAttended = false;
  /** Called when a processing key was added again, if a pool must be told. */
  protected onAgain: ((key: unknown) => void) | undefined = undefined;
  /** Called when a hand-out of a key has ended, if results of items were ever awaited. */
  protected onEnd: ((key: unknown) => void) | undefined = undefined;

  constructor(options: WorkQueueOptions<T>) {
    const { name = "", keyOf, discipline, clock, metrics, priorityLevels } = options;
    this.name = name;
    if (keyOf !== undefined) this.keyOf = keyOf;
    this.clock = clock;
    const time = this.time = clock ?? systemClock;
    this.recentTime = new RecentTime(time);
    const records = this.records = new Records(keyOf !== undefined, discipline !== undefined);
    this.order = discipline === undefined ? this.makeFifo(records, options) : orderOf(discipline, records, time);
    this.#usesTime = this.order.usesTime;
    this.isPlain = this.isFifo = this.order.isFifo;
    if (metrics === undefined || name === "") return;
    this.observer = measuringOf(metrics).observerOf(this, metrics, priorityLevels);
    this.provider = metrics;
    this.isAttended = true;
  }

  /** Makes the order of a queue without a discipline. Called by the constructor. */
  protected makeFifo(records: Records, _options: WorkQueueOptions<T>): Order {
    return new FifoOrder(records);
  }

  /** Replaces the observer of the queue's keys. */
  observe(change: Parameters<ObservedQueue["observe"]>[0]): void {
    this.observer = change(this.observer);
    this.attend();
  }

  /** Must be called when a caller, an observer or `onEnd` comes or goes. */
  protected attend(): void {
    this.isAttended = this.hasCallers || this.observer !== undefined || this.onEnd !== undefined;
  }

  /**
   * Must be called whenever items may have become ready. Hands them to pending calls to `get`, ends pending drains, and
   * tells watchers of the change.
   */
  abstract serve(): void;

  /** Reports whether ready items are not handed out now. */
  protected abstract isHeld(): boolean;

  get length(): number {
    if (this.isPlain) return this.order.length;
    return this.mayBeHeld && this.isHeld() ? 0 : this.ready;
  }

  /** Number of keys that are ready, even if nothing is handed out now. */
  protected get ready(): number {
    const { order, retries } = this;
    if (order.nextChangeAt! < Infinity) order.look?.();
    if (this.waiting > 0 && this.isShutDown) retries!.look(this.time.now()); // a timer does it before
    return this.refused === undefined ? order.length : order.length + this.refused.length;
  }

  /** Number of items that are blocked. */
  get blocked(): number {
    return this.ready - this.length + this.order.blocked + this.waiting;
  }

  get shuttingDown(): boolean {
    return this.ignoresAdds;
  }

  /**
   * Whether the queue is shut down and nothing is ready or blocked. Once nothing is ready or blocked after a shutdown,
   * only keys that were added again while processing can still be handed out.
   */
  get isOver(): boolean {
    return this.isShutDown && this.ready === 0 && this.order.blocked === 0 && this.waiting === 0;
  }

  /**
   * Whether any processing key was added again, or any key is blocked. Such a key becomes ready, even after a shutdown.
   */
  get mayComeBack(): boolean {
    return this.#comingBack > 0 || this.blocked > 0;
  }

  /** Reports whether fewer than `count` items are ready or blocked. */
  protected hasFewer(count: number): boolean {
    return this.ready < count && this.ready + this.order.blocked + this.waiting < count;
  }

  /** Groups of the keys; `undefined` if they have none. */
  get groups(): OrderGroups | undefined {
    return this.order.groups;
  }

  /** Returns the key of an item. */
  key(item: T): unknown {
    return this.keyOf === undefined ? item : this.keyOf(item);
  }

  protected itemOf(record: number): T {
    return this.records.itemOf(record) as T;
  }

  protected positionIn(record: number): number {
    return this.records.stateOf(record) & POSITION;
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

  /**
   * Adds an item whose key has no record.
   *
   * @param marks Kind of the next attempt: `NEEDS_BUDGET` for a retry if the queue has a retry budget, and otherwise 0.
   */
  protected addNew(key: unknown, item: T, priority: number, marks: number): void {
    const record = this.records.take(key, READY | marks, item, priority);
    this.size++;
    if (marks === 0 && this.isFifo) this.order.push(record); // never throws
    else this.#enter(record, marks, false);
    if (this.isAttended) this.#tellAdded(record);
  }

  /** Adds an item whose key has a record, and may be delayed. `marks` are those of `addNew`. */
  protected addToKnown(record: number, state: number, item: T, priority: number, marks: number): void {
    if ((state & DELAYED) !== 0) this.addBesideDelay(record, state, item, priority, marks);
    else if (state !== READY || !this.isFifo) this.addToRecord(record, state, item, priority, marks);
    else {
      if (this.keyOf !== undefined) this.records.setItem(record, item);
      this.#raise(record, priority);
    }
  }

  /** Adds an item whose key has a delay, or had one that was dropped. */
  protected addBesideDelay(record: number, state: number, item: T, priority: number, marks: number): void {
    this.addToRecord(record, state, item, priority, marks);
  }

  /** Adds an item whose key has a record. A delay of the key is not affected. */
  protected addToRecord(record: number, state: number, item: T, priority: number, marks: number): void {
    const position = state & POSITION;
    if (position >= RETURNING) return this.#addToProcessing(record, position, item, priority, marks);
    if (position !== 0) return this.#touch(record, state, item, priority, marks);
    this.records.set(record, state | marks | READY, item, priority);
    this.size++;
    this.#enter(record, marks, false);
    if (this.isAttended) this.#tellAdded(record);
  }

  /** Adds an item whose key is processing, or returning. */
  #addToProcessing(record: number, position: number, item: T, priority: number, marks: number): void {
    const { records } = this;
    const isAgain = position !== PROCESSING;
    // A retry of the item that is processing doesn't replace a newer one.
    const newest = isAgain && isSameKey(item, this.itemOf(record)) ? records.nextItemOf(record) : item;
    records.setNext(record, newest, isAgain ? Math.max(priority, records.nextPriorityOf(record)) : priority);
    if (marks === 0 || !isAgain) this.mark(record, marks); // an add that is no retry counts more
    if (isAgain) return;
    records.setState(record, records.stateOf(record) + AGAIN - PROCESSING);
    this.#comingBack++;
    this.observer?.addedAgain(record, priority);
    if (this.onAgain !== undefined) this.onAgain(records.keyOf(record));
  }

  /** Sets what the next attempt at a key is. */
  protected mark(record: number, marks: number): void {
    const state = this.records.stateOf(record);
    if ((state & (NEEDS_BUDGET | EXEMPT)) !== marks) {
      this.records.setState(record, state & ~(NEEDS_BUDGET | EXEMPT) | marks);
    }
  }

  #raise(record: number, priority: number): void {
    if (priority > this.records.priorityOf(record)) this.records.setPriority(record, priority);
  }

  /** Adds an item whose key is ready or blocked. The add may unblock the key, or others. */
  #touch(record: number, state: number, item: T, priority: number, marks: number): void {
    const { records } = this;
    const order = this.order;
    const before = records.priorityOf(record);
    if (this.isFifo || (state & (POSITION | REFUSED)) !== READY) {
      if (this.keyOf !== undefined) records.setItem(record, item);
      this.#raise(record, priority);
      if (marks !== 0 || (state & POSITION) !== BLOCKED) return;
      this.unblock(record);
      return this.serve();
    }
    const mayUnblock = this.hasCallers && order.blocked > 0;
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

  /** Called when an item was added, as a first attempt, whose retry waits for budget. */
  protected unblock(_record: number): void {}

  /**
   * Adds an item whose delay has passed. If the order refuses the item, it becomes ready nevertheless.
   *
   * @param state State of the record without its delay.
   * @throws The error of the order or the clock. After an error, the key's position shows whether the item is kept.
   */
  protected addDue(record: number, state: number, item: T, priority: number, marks: number): void {
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
      this.#enter(record, marks, true);
    } finally {
      if (this.isAttended) this.#tellAdded(record);
    }
  }

  /** Clears the mark that a processing key was added again. Returns the priority with which it was added again. */
  protected unmark(record: number): number {
    this.#comingBack--;
    this.records.setState(record, this.records.stateOf(record) + PROCESSING - AGAIN);
    this.mark(record, 0);
    this.observer?.unmarked(record);
    const priority = this.records.nextPriorityOf(record);
    this.records.setNext(record, undefined, 0); // lets the item be garbage collected
    return priority;
  }

  /** Returns the newest item of a key that is processing; `undefined` if another item of the key was handed out. */
  protected newestOf(record: number, item: T): T | undefined {
    const position = this.positionIn(record);
    if (position < PROCESSING || !isSameKey(this.itemOf(record), item)) return undefined;
    return position === AGAIN ? this.records.nextItemOf(record) as T : item;
  }

  /**
   * Passes a ready key to the order, unless it is a retry without budget.
   *
   * @param isKept Whether the key stays ready if the order refuses it. If not, its position is cleared.
   */
  #enter(record: number, marks: number, isKept: boolean): void {
    const handedOut = this.handedOut;
    try {
      if (this.#usesTime) this.#setTime(record);
      if (marks === 0) this.pushToOrder(record);
      else this.pushMarked(record, marks);
    } catch (error) {
      if (this.handedOut !== handedOut) throw error; // the key was handed out before the error
      if (isKept) this.#refuse(record);
      else this.leave(record, this.records.stateOf(record), false);
      throw error;
    }
  }

  /** Sets the time at which a key became ready. */
  #setTime(record: number): void {
    const time = this.batchReadyAt ?? this.recentTime.now();
    if (time > this.latestReadyAt) this.latestReadyAt = time;
    this.records.setTime(record, this.batchReadyAt ?? this.latestReadyAt);
  }

  /** Called for a ready key whose next attempt is no first attempt. Only queues with a retry budget have such keys. */
  protected pushMarked(_record: number, _marks: number): void {}

  protected pushToOrder(record: number): void {
    const order = this.order;
    if (order.begin !== undefined && order.length + order.blocked === 0) order.begin();
    order.push(record);
  }

  #refuse(record: number): void {
    this.isPlain = false;
    this.records.setState(record, this.records.stateOf(record) | REFUSED);
    (this.refused ??= []).push(record);
  }

  /** Hands out the next ready item. There must be a ready item. */
  protected handOut(): RecordLease<T> {
    const records = this.records;
    if (this.tellsTaken) this.beforeTaken();
    const refused = this.refused === undefined ? undefined : this.refused.shift();
    const record = refused ?? this.order.pop();
    if (this.tellsTaken && refused === undefined) this.taken(record);
    const number = ++this.handedOut | 0; // a 32-bit number, because it is the link
    const page = records.pageOf(record);
    const place = record & PLACE;
    page.fields[2 * place]! += PROCESSING - READY;
    page.fields[2 * place + 1] = number;
    const isAlone = this.processing++ === 0;
    this.#latest = record;
    if (this.#worked !== undefined) this.#worked.add(record);
    const key = this.#latestKey = page.keys[place];
    if (!isAlone) (this.#recent ??= new RecentHandOuts()).add(number, record, key);
    const item = (page.items === undefined ? key : page.items[place]) as T;
    const priority = page.priorities === undefined ? 0 : page.priorities[place]!;
    const lease = new RecordLease(this, record, number, key, item, priority);
    if (this.isWatched || this.observer !== undefined) this.#tellTaken(record);
    return lease;
  }

  /** Called before an item is handed out, if `tellsTaken`. */
  protected beforeTaken(): void {}

  /** Called for each record that the order has handed out, if `tellsTaken`. Must not throw. */
  protected taken(_record: number): void {}

  /** Returns the position of a key during a hand-out; 0 after it. */
  positionOf(record: number, handOut: number): number {
    const position = this.records.stateWith(record, handOut) & POSITION;
    return position >= PROCESSING ? position : 0;
  }

  done(item: T): void {
    const key = this.key(item);
    const latest = this.#latest;
    const record = latest !== NONE && this.#latestKey === key ? latest : this.#recordOf(key);
    if (record === NONE) return;
    const state = this.records.stateOf(record);
    if ((state & POSITION) >= PROCESSING) this.end(record, state);
  }

  /** Returns the record of a key, which is often one of the latest hand-outs; `NONE` if the key has none. */
  #recordOf(key: unknown): number {
    const recent = this.#recent === undefined ? NONE : this.#recent.find(key);
    return recent === NONE ? this.records.of(key) : recent;
  }

  /** Ends a hand-out, unless it has already ended. */
  endHandOut(record: number, handOut: number): void {
    const state = this.records.stateWith(record, handOut);
    if ((state & POSITION) >= PROCESSING) this.end(record, state);
  }

  /** Ends the hand-out of a processing key. A key that was added again becomes ready. */
  protected end(record: number, state: number): void {
    this.#latest = NONE;
    this.#latestKey = undefined; // lets the key be garbage collected
    this.processing--;
    if (this.#recent !== undefined) this.#recent.remove(this.records.linkOf(record), record);
    if (this.#worked !== undefined) this.#worked.delete(record);
    const tellsOrder = this.order.awaitsDone && (state & REFUSED) === 0;
    if (this.isAttended) this.#endAttended(record, state, tellsOrder);
    else this.leave(record, state, tellsOrder);
  }

  /**
   * Clears a key's position, and frees its record if nothing else must be known of the key. A key that was added again
   * becomes ready.
   */
  protected leave(record: number, state: number, tellsOrder: boolean): void {
    if ((state & POSITION) === AGAIN) return this.#comeBack(record, state, tellsOrder);
    const { records } = this;
    this.size--;
    const rest = state & ~(POSITION | REFUSED | NEEDS_BUDGET | EXEMPT | REPEATED | CANCELLED);
    if (rest !== 0) {
      records.setState(record, rest);
      if (this.keyOf !== undefined && (rest & REMEMBERED) === 0) records.setItem(record, undefined);
      if (tellsOrder) this.order.done(record);
    } else if (!tellsOrder) records.free(record);
    else {
      const page = records.remove(record);
      try {
        this.order.done(record);
      } finally {
        records.release(record, page);
      }
    }
  }

  /** Makes a processing key ready that was added again. */
  #comeBack(record: number, state: number, tellsOrder: boolean): void {
    this.#comingBack--;
    const { records } = this;
    records.setState(record, state + RETURNING - AGAIN);
    try {
      if (tellsOrder) this.order.done(record);
    } finally {
      const item = records.nextItemOf(record); // not before `done`, in which a discipline may add a newer item
      const priority = records.nextPriorityOf(record);
      records.setNext(record, undefined, 0); // lets the item be garbage collected
      const rest = records.stateOf(record) & ~(POSITION | REFUSED | REPEATED | CANCELLED);
      records.set(record, rest | READY, item, priority);
      const handedOut = this.handedOut;
      try {
        this.#enter(record, rest & (NEEDS_BUDGET | EXEMPT), true);
      } finally {
        if (this.handedOut === handedOut) this.observer?.ready(record);
      }
    }
  }

  #endAttended(record: number, state: number, tellsOrder: boolean): void {
    const { observer, records } = this;
    const key = records.keyOf(record);
    const handOut = observer && records.linkOf(record);
    const startedAt = observer?.leaving(record);
    try {
      this.leave(record, state, tellsOrder);
    } finally {
      observer?.finished(key, startedAt, handOut!);
      this.onEnd?.(key);
      // The discipline may have blocked other keys until this key was done. An observer is told of the queue's end.
      if (this.hasCallers || (this.isShutDown && this.size === 0)) this.serve();
    }
  }

  #tellAdded(record: number): void {
    this.observer?.added(record);
    if (this.hasCallers && this.batchReadyAt === undefined) this.serve();
  }

  /** Reports a hand-out. Never throws, because the item would be lost: it is no longer ready, and has no lease yet. */
  #tellTaken(record: number): void {
    try {
      this.observer?.taken(record);
      if (this.isWatched) this.serve();
    } catch {
      // The clock threw. A measurement or a timer may be missing.
    }
  }

  /**
   * Lists refused keys first, then the keys that the order predicts. Other ready keys follow in no particular order.
   * Some of these keys may be blocked: only the order knows which.
   */
  protected listReady(count: number): number[] {
    const ready = new Set(this.refused?.slice(0, count));
    for (const record of this.order.peek(count - ready.size)) ready.add(record);
    if (ready.size === count) return [...ready];
    for (const record of this.records.used()) {
      if (this.positionIn(record) === READY) ready.add(record);
      if (ready.size === count) break;
    }
    return [...ready];
  }

  protected listProcessing(limit: number): number[] {
    const listed: number[] = [];
    const count = Math.min(limit, this.processing);
    if (count === 0) return listed;
    if (this.processing <= FEW) this.#worked ??= new Set(this.#findProcessing(this.processing));
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
}
