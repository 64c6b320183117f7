import { type Clock, systemClock } from "../base/clock.ts";
import { isSameKey } from "../base/keys.ts";
import type { MetricsProvider } from "../contracts/metrics.ts";
import type { ObservedQueue, QueueObserver } from "../contracts/queue_inspection.ts";
import type { AddOptions, Lease, WorkQueueOptions } from "../contracts/work_queue.ts";
import { RecentHandOuts } from "../structures/recent_hand_outs.ts";
import { NONE, type Page, PLACE, Records } from "../structures/records.ts";
import { FifoOrder } from "./fifo_order.ts";
import type { HeldLine } from "./held_line.ts";
import { measuringOf, ORDER } from "./opt_ins.ts";
import { priorityOf } from "./options.ts";
import type { Line, Order, OrderGroups } from "./order.ts";
import type { Ordering } from "./ordering.ts";
import {
  AGAIN,
  CANCELLED,
  DELAYED,
  EXEMPT,
  LEAVING,
  NEEDS_BUDGET,
  POSITION,
  PROCESSING,
  READY,
  REFUSED,
  REMEMBERED,
  REPEATED,
  RETURNING,
} from "./positions.ts";

/**
 * Largest number of processing keys for which a separate set is created. If more keys are processing, a scan of all
 * records quickly finds some of them.
 */
const FEW = 10_000;

/** Discipline, as queues see it. */
interface MakesOrdering {
  [ORDER](given: object, queue: unknown): void;
}

/**
 * Keys of a queue: one record for each, from its first add until nothing about it must be remembered. Ready keys are
 * handed out first in, first out, unless the queue has an {@linkcode Ordering}.
 *
 * This class makes all changes of a key's position: adds, hand-outs and ends. Calls that wait for them are in a derived
 * class.
 */
export abstract class RecordQueue<T> {
  readonly name: string;
  keyOf?(item: T): unknown;
  readonly clock: Clock | undefined;
  readonly time: Clock;
  /** Records of the keys. The link of a processing key is the number of its hand-out. */
  readonly records: Records;
  /** Ready keys. */
  line: Line;
  /** The line, if it may hold back items, because the queue has a discipline or a retry budget, or was paused. */
  held: HeldLine | undefined = undefined;
  /** The line, if the queue has a discipline or a retry budget. */
  ordering: Ordering | undefined = undefined;
  /** Number of keys that are ready, blocked or processing. */
  size = 0;
  /** Number of keys that are processing. */
  processing = 0;
  /** Number of hand-outs so far. */
  handedOut = 0;
  /** Number of keys that are processing and were added again. */
  protected comingBack = 0;
  /** Record of the latest hand-out, because that hand-out often ends first. */
  #latest = NONE;
  #latestKey: unknown = undefined;
  /**
   * Latest hand-outs that have not ended and that began while other keys were processing; `undefined` until there is
   * one.
   */
  #recent: RecentHandOuts | undefined = undefined;
  /** Records of the processing keys. Created the first time a snapshot has to find a few of them among all records. */
  #worked: Set<number> | undefined = undefined;
  /** Whether the queue is shut down or drains. */
  protected ignoresAdds = false;
  /** Whether the queue is shut down: no delayed item will become ready. */
  isShutDown = false;
  /** Time at which the keys of the current slice became ready; `undefined` if no slice is being added. */
  batchReadyAt: number | undefined = undefined;
  /** Observer for the metrics of the queue, or for a display. */
  protected observer: QueueObserver | undefined;
  /** Provider that has the queue's metrics; `undefined` if the queue has none. */
  readonly provider: MetricsProvider | undefined;
  /** Whether a pending call or a callback must be told of changes. */
  hasCallers = false;
  /** Whether a callback must be told. */
  protected isWatched = false;
  /**
   * Whether anything must be told of changes: a caller or an observer. If not, adding, handing out and ending an item
   * skip all of them with one look at this field.
   */
  protected isAttended = false;
  /** Called for each add of a processing key, if a pool must be told. */
  protected onAgain: ((key: unknown) => void) | undefined = undefined;
  /** Called when a hand-out of a key has ended, if results of items were ever awaited. */
  protected onEnd: ((key: unknown) => void) | undefined = undefined;

  constructor(options: WorkQueueOptions<T>) {
    const { name = "", keyOf, discipline, clock, metrics, priorityLevels } = options;
    this.name = name;
    if (keyOf !== undefined) this.keyOf = keyOf;
    this.clock = clock;
    this.time = clock ?? systemClock;
    this.records = new Records(keyOf !== undefined, discipline !== undefined);
    this.line = this.makeFifo(this.records, options);
    if (discipline !== undefined) (discipline as object as MakesOrdering)[ORDER](discipline, this);
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

  /** Number of items that can be handed out now. */
  get length(): number {
    return this.line.length;
  }

  /** Number of items that are blocked. */
  get blocked(): number {
    return this.size - this.processing - this.line.length;
  }

  get shuttingDown(): boolean {
    return this.ignoresAdds;
  }

  /**
   * Whether the queue is shut down and nothing is ready or blocked. Once nothing is ready or blocked after a shutdown,
   * only keys that were added again while processing can still be handed out.
   */
  get isOver(): boolean {
    return this.isShutDown && this.size === this.processing;
  }

  /**
   * Whether any processing key was added again, or any key is blocked. Such a key becomes ready, even after a shutdown.
   */
  get mayComeBack(): boolean {
    return this.comingBack > 0 || this.blocked > 0;
  }

  /** Reports whether fewer than `count` items are ready or blocked. */
  protected hasFewer(count: number): boolean {
    return this.size - this.processing < count;
  }

  /** Groups of the keys; `undefined` if they have none. */
  get groups(): OrderGroups | undefined {
    return this.ordering?.order.groups;
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
    this.line.push(record, marks, false);
    if (this.isAttended) this.tellAdded(record);
  }

  /** Adds an item whose key has a record, and may be delayed. `marks` is the same as for `addNew`. */
  protected addToKnown(record: number, state: number, item: T, priority: number, marks: number): void {
    if ((state & DELAYED) !== 0) this.addBesideDelay(record, state, item, priority, marks);
    else this.addToRecord(record, state, item, priority, marks);
  }

  /** Adds an item whose key has a delay, or had one that was dropped. */
  protected addBesideDelay(record: number, state: number, item: T, priority: number, marks: number): void {
    this.addToRecord(record, state, item, priority, marks);
  }

  /** Adds an item whose key has a record. A delay of the key is not affected. */
  protected addToRecord(record: number, state: number, item: T, priority: number, marks: number): void {
    const position = state & POSITION;
    if (position >= LEAVING) return this.#addToProcessing(record, position, item, priority, marks);
    if (position !== 0) return this.#touch(record, state, item, priority, marks);
    this.records.set(record, state | marks | READY, item, priority);
    this.size++;
    this.line.push(record, marks, false);
    if (this.isAttended) this.tellAdded(record);
  }

  /** Adds an item whose key is processing, or leaving. */
  #addToProcessing(record: number, position: number, item: T, priority: number, marks: number): void {
    const { records } = this;
    const isAgain = position !== PROCESSING && position !== LEAVING;
    // A retry of the item that is processing doesn't replace a newer one.
    const newest = isAgain && isSameKey(item, this.itemOf(record)) ? records.nextItemOf(record) : item;
    records.setNext(record, newest, isAgain ? Math.max(priority, records.nextPriorityOf(record)) : priority);
    if (marks === 0 || !isAgain) this.mark(record, marks); // an add that is not a retry takes precedence
    if (!isAgain) {
      records.setState(record, records.stateOf(record) + AGAIN - PROCESSING);
      this.comingBack++;
      this.observer?.addedAgain(record, priority);
    }
    // Running attempts are not told of adds that come from the end of a delay.
    if (this.batchReadyAt === undefined) this.onAgain?.(records.keyOf(record));
  }

  /** Sets the kind of the next attempt at a key. */
  protected mark(record: number, marks: number): void {
    const state = this.records.stateOf(record);
    if ((state & (NEEDS_BUDGET | EXEMPT)) !== marks) {
      this.records.setState(record, state & ~(NEEDS_BUDGET | EXEMPT) | marks);
    }
  }

  /** Adds an item whose key is ready or blocked. */
  #touch(record: number, state: number, item: T, priority: number, marks: number): void {
    const { ordering, records } = this;
    if (ordering !== undefined) return ordering.touch(record, state, item, priority, marks);
    if (this.keyOf !== undefined) records.setItem(record, item);
    if (priority > records.priorityOf(record)) records.setPriority(record, priority);
  }

  /** Hands out the next ready item. There must be a ready item. */
  protected handOut(): RecordLease<T> {
    const records = this.records;
    const record = this.line.pop();
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
    const lease = new RecordLease(this, page, record, number, key, item, priority);
    if (this.isWatched || this.observer !== undefined) this.#tellTaken(record);
    return lease;
  }

  done(item: T): void {
    const record = this.recordOf(this.key(item));
    const state = this.records.stateOf(record);
    if ((state & POSITION) >= PROCESSING) this.end(record, state);
  }

  /** Returns the record of a key, which is often one of the latest hand-outs; `NONE` if the key has none. */
  protected recordOf(key: unknown): number {
    if (this.#latest !== NONE && this.#latestKey === key) return this.#latest;
    const recent = this.#recent === undefined ? NONE : this.#recent.find(key);
    return recent === NONE ? this.records.of(key) : recent;
  }

  /** Ends the hand-out of a processing key. A key that was added again becomes ready. */
  end(record: number, state: number): void {
    this.#latest = NONE;
    this.#latestKey = undefined; // lets the key be garbage collected
    if (this.#recent !== undefined) this.#recent.remove(this.records.linkOf(record), record);
    if (this.#worked !== undefined) this.#worked.delete(record);
    if (this.isAttended) this.#endAttended(record, state);
    else if (this.ordering === undefined) this.leave(record, state);
    else this.ordering.done(record, state);
  }

  #endAttended(record: number, state: number): void {
    const { observer, ordering, records } = this;
    const key = records.keyOf(record);
    const handOut = observer && records.linkOf(record);
    const startedAt = observer?.leaving(record);
    try {
      if (ordering === undefined) this.leave(record, state);
      else ordering.done(record, state);
    } finally {
      observer?.finished(key, startedAt, handOut!);
      this.onEnd?.(key);
      // The discipline may have blocked other keys until this key was done. An observer is told of the queue's end.
      if (this.hasCallers || (this.isShutDown && this.size === 0)) this.serve();
    }
  }

  /**
   * Clears a key's position, and frees its record if nothing else must be known of the key. A key that was added again
   * becomes ready.
   */
  leave(record: number, state: number): void {
    const position = state & POSITION;
    if (position >= LEAVING) this.processing--;
    if (position === AGAIN || position === RETURNING) return this.#comeBack(record, state);
    this.size--;
    const rest = state & ~(POSITION | REFUSED | NEEDS_BUDGET | EXEMPT | REPEATED | CANCELLED);
    if (rest === 0) return this.records.free(record);
    this.records.setState(record, rest);
    if (this.keyOf !== undefined && (rest & REMEMBERED) === 0) this.records.setItem(record, undefined);
  }

  /** Makes a key ready that was added again and is done. */
  #comeBack(record: number, state: number): void {
    this.comingBack--;
    const { records } = this;
    const item = records.nextItemOf(record);
    const priority = records.nextPriorityOf(record);
    records.setNext(record, undefined, 0); // lets the item be garbage collected
    const rest = state & ~(POSITION | REFUSED | REPEATED | CANCELLED);
    records.set(record, rest | READY, item, priority);
    const { handedOut } = this;
    try {
      this.line.push(record, rest & (NEEDS_BUDGET | EXEMPT), true);
    } finally {
      if (this.handedOut === handedOut) this.observer?.ready(record);
    }
  }

  protected tellAdded(record: number): void {
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
  /** Whether the limiter has said that the failure of the attempt is not counted. Then, `retry` doesn't ask it. */
  declare isIgnored?: boolean;
  readonly #queue: RecordQueue<T>;
  readonly #page: Page;
  readonly #record: number;
  readonly #handOut: number;

  /** @param page Page of the record. */
  constructor(
    queue: RecordQueue<T>,
    page: Page,
    record: number,
    handOut: number,
    key: unknown,
    item: T,
    priority: number,
  ) {
    this.item = item;
    this.priority = priority;
    this.key = key;
    this.#queue = queue;
    this.#page = page;
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

  /** State of the key while the hand-out lasts; 0 after it. The link of a processing key is its hand-out. */
  get #state(): number {
    const { fields } = this.#page;
    const place = this.#record & PLACE;
    const state = fields[2 * place + 1] === this.#handOut ? fields[2 * place]! : 0;
    return (state & POSITION) >= PROCESSING ? state : 0;
  }

  /** Position of the key while the hand-out lasts; 0 after it. */
  get position(): number {
    return this.#state & POSITION;
  }

  /** Returns the record of the key, even if the hand-out is over; `NONE` if the key has none. */
  recordIn(records: Records): number {
    return this.#state === 0 ? records.of(this.key) : this.#record;
  }

  /** Ends the hand-out, unless it has already ended. */
  [Symbol.dispose](): void {
    const state = this.#state;
    if (state !== 0) this.#queue.end(this.#record, state);
  }
}
