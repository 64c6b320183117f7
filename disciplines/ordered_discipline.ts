import { argumentError } from "../lib/base/errors.ts";
import { type Clock, systemClock } from "../lib/base/clock.ts";
import type { QueueDiscipline, ReadyEntry } from "../lib/contracts/discipline.ts";
import { DisciplineOrder } from "../lib/queue/discipline_order.ts";
import type { Order } from "../lib/queue/order.ts";
import { setOrderMaker } from "../lib/queue/ordering.ts";
import { NONE, Records, setTime, timeOf } from "../lib/structures/records.ts";

/** States of the record of an entry: pushed; popped and not done; and done, while the order is told so. */
const READY = 1;
const POPPED = 2;
const LEAVING = 3;

/** Entries that were pushed by hand, with the order of their records. */
class Entries<O extends Order> {
  readonly records: Records = new Records(true, true);
  readonly order: O;
  readonly #byRecord: ReadyEntry<unknown>[] = [];
  readonly #records = new Map<ReadyEntry<unknown>, number>();

  constructor(makeOrder: OrderMaker<O>, clock: Clock) {
    this.order = makeOrder(this.records, clock);
  }

  get size(): number {
    return this.#records.size;
  }

  of(record: number): ReadyEntry<unknown> {
    return this.#byRecord[record]!;
  }

  /** Returns the record of an entry in this state; `NONE` if there is none. */
  recordOf(entry: ReadyEntry<unknown>, state: number): number {
    const record = this.#records.get(entry) ?? NONE;
    return record !== NONE && this.records.stateOf(record) === state ? record : NONE;
  }

  add(entry: ReadyEntry<unknown>): number {
    const { records } = this;
    const record = records.take(entry.key, READY, entry.item, entry.priority);
    setTime(records, record, entry.readyAt);
    this.#records.set(entry, record);
    this.#byRecord[record] = entry;
    return record;
  }

  free(record: number): void {
    this.#records.delete(this.of(record));
    delete this.#byRecord[record];
    this.records.free(record);
  }
}

/** Makes an order of records for a queue with a clock. */
type OrderMaker<O> = (records: Records, clock: Clock) => O;

/**
 * Discipline that is an order of records.
 *
 * A queue uses the discipline through an order of its own, in which no key has an entry. Anything else that uses the
 * discipline, such as a discipline that wraps this one, calls the methods of `QueueDiscipline`, which give each entry a
 * record. The queue of a derived class calls them too, because the class may override them. The methods of an instance
 * can't be replaced.
 */
export class OrderedDiscipline<O extends Order = Order> implements QueueDiscipline<unknown> {
  readonly #makeOrder: OrderMaker<O>;
  /** Clock of the queue. Inside another discipline, this one doesn't know its queue, and uses the system clock. */
  #clock = systemClock;
  /** Entries that were pushed by hand; `undefined` until they are needed. */
  #entries: Entries<O> | undefined;
  /**
   * Order that has the keys, and its records. Several queues may have the discipline, but only one of them may have
   * keys in its order.
   */
  #current: { readonly records: Records; readonly order: Order } | undefined;
  /** Whether the discipline is of a built-in class itself, not of a class derived from one. */
  readonly #isBuiltIn: boolean;

  /**
   * @param makeOrder Makes the order of a queue.
   * @param prototype Prototype of the built-in class.
   */
  constructor(makeOrder: OrderMaker<O>, prototype: object = OrderedDiscipline.prototype) {
    this.#makeOrder = makeOrder;
    setOrderMaker(this, (given, records, clock) => {
      this.#clock = clock;
      return this.orderOf(given, records, clock) ??
        new DisciplineOrder(given as QueueDiscipline<unknown>, records, clock);
    });
    this.#isBuiltIn = Object.getPrototypeOf(this) === prototype;
    if (this.#isBuiltIn) Object.preventExtensions(this);
  }

  get order(): O {
    return this.#own.order;
  }

  get length(): number {
    return this.#looked?.length ?? 0;
  }

  get blocked(): number {
    return this.#looked?.blocked ?? 0;
  }

  /** Order that has the keys, after its look at the time; `undefined` if there is none. */
  get #looked(): Order | undefined {
    const order = this.#current?.order;
    order?.look?.();
    return order;
  }

  get #own(): Entries<O> {
    return this.#entries ??= new Entries(this.#makeOrder, this.#clock);
  }

  push(entry: ReadyEntry<unknown>): void {
    const own = this.#own;
    this.#begin(own);
    const record = own.add(entry);
    try {
      own.order.push(record);
    } catch (error) {
      if (own.recordOf(entry, READY) === record) own.free(record); // unless it was popped before the error
      throw error;
    }
  }

  pop(): ReadyEntry<unknown> | undefined {
    const own = this.#own;
    const record = own.order.pop();
    if (record === NONE) return undefined;
    const entry = own.of(record);
    if (own.order.awaitsDone) own.records.setState(record, POPPED);
    else own.free(record);
    return entry;
  }

  touch(entry: ReadyEntry<unknown>): void {
    const { records, order } = this.#own;
    const record = this.#own.recordOf(entry, READY);
    if (record === NONE) return;
    const item = records.itemOf(record);
    const before = records.priorityOf(record);
    records.setItem(record, entry.item);
    if (entry.priority > before) records.setPriority(record, entry.priority);
    try {
      order.touch(record, before);
    } catch (error) {
      records.setItem(record, item);
      records.setPriority(record, before);
      throw error;
    }
  }

  remove(entry: ReadyEntry<unknown>): void {
    const own = this.#own;
    const record = own.recordOf(entry, READY);
    if (record === NONE) return;
    own.order.remove!(record);
    own.free(record);
  }

  done(entry: ReadyEntry<unknown>, work?: { readonly durationMs: number }): void {
    const own = this.#own;
    const record = own.recordOf(entry, POPPED);
    if (record === NONE) return;
    own.records.setState(record, LEAVING);
    try {
      own.order.done(record, work?.durationMs);
    } finally {
      own.free(record);
    }
  }

  peek(limit: number): ReadyEntry<unknown>[] {
    const current = this.#current;
    if (current === undefined) return [];
    const { records, order } = current;
    return order.peek(limit).map((record) => {
      if (current === this.#entries) return this.#entries.of(record);
      const readyAt = order.usesTime ? timeOf(records, record) : -Infinity;
      return {
        key: records.keyOf(record),
        item: records.itemOf(record),
        priority: records.priorityOf(record),
        readyAt,
      };
    });
  }

  /**
   * Makes an order for a queue.
   *
   * @param given The discipline as its user has it: perhaps an object that wraps this discipline.
   * @returns The order; `undefined` if the methods of `given` must be used, because they may be other methods or
   * because this discipline has entries.
   */
  orderOf(given: object, records: Records, clock: Clock): O | undefined {
    if (!this.#isBuiltIn || given !== this || (this.#entries?.size ?? 0) > 0) return undefined;
    const order: Order = this.#makeOrder(records, clock);
    const use = { records, order };
    order.begin = () => this.#begin(use);
    return order as O;
  }

  /** Makes an order the current one. Throws an error if another order has keys. */
  #begin(use: { readonly records: Records; readonly order: Order }): void {
    if (this.#current === use) return;
    if (this.length + this.blocked > 0) {
      throw argumentError("add item", "another queue uses the discipline: each queue needs its own", Error);
    }
    this.#current = use;
  }
}
