import { setReplaceableBrand } from "../base/brands.ts";
import type { Clock } from "../base/clock.ts";
import type { Duration } from "../base/duration.ts";
import { requireDuration } from "../base/duration_arguments.ts";
import { RecentTime } from "../structures/burst.ts";
import { entryOf, type Records, setTime } from "../structures/records.ts";
import type { BlockedRetries } from "./blocked_retries.ts";
import { FifoOrder, setRepeated } from "./fifo_order.ts";
import { PAUSE } from "./groups.ts";
import { HeldLine, type HeldQueue } from "./held_line.ts";
import { ORDER } from "./opt_ins.ts";
import type { Order, OrderGroups } from "./order.ts";
import { BLOCKED, LEAVING, NEEDS_BUDGET, POSITION, PROCESSING, READY, REFUSED } from "./positions.ts";

/** Queue, as its ordering sees it. */
export interface OrderedQueue extends HeldQueue {
  readonly records: Records;
  /** The line of the queue, if it is an {@linkcode Ordering}. */
  ordering: Ordering | undefined;
  readonly isShutDown: boolean;
  /** Whether a call or a callback must be told of changes. */
  readonly hasCallers: boolean;
  /** Batch of due items that has begun and has not ended. */
  readonly batch: object | undefined;
  /** Looks at the time: lets retries through that have budget now, and makes due items ready. */
  look(): void;
  /** Clears the position of a key. */
  leave(record: number, state: number): void;
}

/**
 * Ready and blocked keys of a queue that has a discipline or a retry budget. Bundles contain this class only if a queue
 * has one of these options.
 */
export class Ordering extends HeldLine {
  readonly #isFifo: boolean;
  readonly #queue: OrderedQueue;
  readonly records: Records;
  /** Retries that need budget; `undefined` if retries need none. */
  retries: BlockedRetries | undefined = undefined;
  /**
   * Ready records that the order refused, the first refused record first. They are handed out before the records of the
   * order.
   */
  readonly #refused: number[] = [];
  readonly #recentTime: RecentTime;
  /** Time at which the latest key became ready; `-Infinity` if the order doesn't use times. It is never set back. */
  latestReadyAt = -Infinity;

  constructor(queue: OrderedQueue, order: Order) {
    super(queue, order);
    this.#queue = queue;
    this.records = queue.records;
    this.#isFifo = order instanceof FifoOrder;
    this.#recentTime = new RecentTime(queue.time);
  }

  /** Number of items that can be handed out now. */
  override get length(): number {
    const { order, retries } = this;
    const { batch, batchReadyAt, isShutDown } = this.#queue;
    if (this.pausedUntil !== undefined && this.isPaused()) return 0;
    if ((batch ?? batchReadyAt) !== undefined && !this.#isFifo) return 0; // a later slice may have the first item
    if (order.nextChangeAt! < Infinity) order.look?.();
    if (isShutDown && retries !== undefined) retries.look(); // before a shutdown, a timer does this
    return order.length + this.#refused.length;
  }

  /** Passes a ready key to the order, unless it is a retry without budget. */
  override push(record: number, marks: number, isKept: boolean): void {
    try {
      if (this.order.usesTime) this.#setTime(record);
      if (marks === NEEDS_BUDGET && this.retries !== undefined) this.retries.enter(record, this.#queue.time.now());
      else {
        if (marks === NEEDS_BUDGET) setRepeated(this.records, record);
        this.enter(record);
      }
    } catch (error) {
      const state = this.records.stateOf(record);
      // The key was handed out before the error, and may have come back.
      if ((state & POSITION) !== READY || entryOf(this.records, record) !== undefined) throw error;
      if (!isKept) this.#queue.leave(record, state);
      else {
        this.records.setState(record, state | REFUSED);
        this.#refused.push(record);
      }
      throw error;
    }
  }

  /** Sets the time at which a key became ready. */
  #setTime(record: number): void {
    const { batchReadyAt } = this.#queue;
    const time = batchReadyAt ?? this.#recentTime.now();
    if (time > this.latestReadyAt) this.latestReadyAt = time;
    setTime(this.records, record, batchReadyAt ?? this.latestReadyAt);
  }

  /** Passes a ready key to the order. */
  enter(record: number): void {
    const { order } = this;
    if (order.begin !== undefined && order.length + order.blocked === 0) order.begin();
    order.push(record);
  }

  /** Removes the next record and returns it. There must be one. */
  override pop(): number {
    const { retries } = this;
    if (retries !== undefined) retries.prepareTake();
    if (this.#refused.length > 0) return this.#refused.shift()!;
    const record = this.order.pop();
    if (retries !== undefined) retries.taken(record);
    return record;
  }

  /** Adds an item whose key is ready or blocked. The add may unblock the key, or others. */
  touch(record: number, state: number, item: unknown, priority: number, marks: number): void {
    const { records, order } = this;
    const itemBefore = records.itemOf(record);
    const before = records.priorityOf(record);
    records.setItem(record, item);
    if (priority > before) records.setPriority(record, priority);
    if ((state & POSITION) === BLOCKED) {
      if (marks !== 0) return;
      this.retries!.added(record);
      return this.#queue.serve();
    }
    if ((state & REFUSED) !== 0) return;
    const mayUnblock = this.#queue.hasCallers && order.blocked > 0;
    try {
      order.touch(record, before);
    } catch (error) {
      records.setItem(record, itemBefore);
      records.setPriority(record, before);
      throw error;
    }
    if (mayUnblock) this.#queue.serve();
  }

  override remove(record: number, state: number): void {
    if ((state & REFUSED) !== 0) this.#refused.splice(this.#refused.indexOf(record), 1);
    else if ((state & POSITION) === BLOCKED) this.retries!.remove(record);
    else this.order.remove!(record);
  }

  /** Reports whether a record is blocked although others may be ready. */
  isBlocked(record: number, state: number): boolean {
    return (state & POSITION) === BLOCKED || ((state & REFUSED) === 0 && this.order.isBlocked?.(record) === true);
  }

  /** Clears the position of a key that is done, after telling the order. */
  done(record: number, state: number): void {
    if (!this.order.awaitsDone || (state & REFUSED) !== 0) return this.#queue.leave(record, state);
    this.records.setState(record, state + LEAVING - PROCESSING);
    try {
      this.order.done(record);
    } finally {
      this.#queue.leave(record, this.records.stateOf(record));
    }
  }

  /**
   * Lists refused keys first, then the keys that the order predicts. Other ready keys follow in no particular order.
   * Some of these keys may be blocked: only the order knows which.
   */
  override peek(count: number): number[] {
    const ready = new Set(this.#refused.slice(0, count));
    for (const record of this.order.peek(count - ready.size)) ready.add(record);
    if (ready.size === count) return [...ready];
    for (const record of this.records.used()) {
      if ((this.records.stateOf(record) & POSITION) === READY) ready.add(record);
      if (ready.size === count) break;
    }
    return [...ready];
  }

  pauseGroup(groups: OrderGroups, group: unknown, duration: Duration): void {
    groups.pauseGroup(group, this.#queue.time.now() + requireDuration(PAUSE, "duration", duration));
    this.follow();
  }

  /**
   * Returns the next time at which blocked items may become ready; `Infinity` if there is none. If nobody awaits them,
   * only retries count, and only before a shutdown.
   */
  protected override changeAt(isAwaited: boolean): number {
    const { order: { nextChangeAt = Infinity }, retries } = this;
    const opensAt = retries !== undefined && (isAwaited || !this.#queue.isShutDown) ? retries.opensAt : Infinity;
    return isAwaited ? Math.min(this.pausedUntil ?? nextChangeAt, opensAt) : opensAt;
  }

  protected override look(): void {
    if (this.retries !== undefined && this.retries.length > 0) this.#queue.look(); // even while the queue is paused
  }
}

/** Returns the ordering of a queue, which gets one if it has none. */
export function orderingOf(queue: OrderedQueue): Ordering {
  return queue.ordering ??= queue.held = queue.line = new Ordering(queue, queue.line as Order);
}

/**
 * Makes an order for a queue that has a discipline.
 *
 * @param given The discipline as the queue has it: perhaps an object that wraps the discipline.
 */
export type OrderMaker = (given: object, records: Records, clock: Clock) => Order;

/**
 * Sets the function that makes orders for a discipline. The function is not a class member, because bundlers would then
 * keep the class even if nothing uses it.
 */
export function setOrderMaker(discipline: object, make: OrderMaker): void {
  setReplaceableBrand(discipline, ORDER, (given: object, queue: OrderedQueue) => {
    queue.ordering = queue.held = queue.line = new Ordering(queue, make(given, queue.records, queue.time));
  });
}
