import type { Clock } from "../base/clock.ts";
import { argumentError } from "../base/errors.ts";
import type { QueueDiscipline, ReadyEntry } from "../contracts/discipline.ts";
import { entryOf, NONE, type Records, setEntry, timeOf } from "../structures/records.ts";
import type { Order, OrderGroups } from "./order.ts";

/**
 * Entry of a key, from the time the key becomes ready until it is popped or, if the discipline has `done`, until it is
 * done.
 */
class Entry<T> implements ReadyEntry<T> {
  readonly key: unknown;
  item: T;
  priority: number;
  readonly readyAt: number;
  readonly #order: DisciplineOrder<unknown>;
  readonly #record: number;
  /**
   * Whether the discipline has the entry. A discipline that refused the entry may still have it, but must not return
   * it.
   */
  isIn = true;
  /** Whether the entry was removed from the queue, but the discipline still has it. */
  isRemoved = false;
  /** Time at which the entry was popped, if the discipline has `done`. */
  poppedAt = 0;

  constructor(order: DisciplineOrder<T>, records: Records, record: number) {
    this.key = records.keyOf(record);
    this.item = records.itemOf(record) as T;
    this.priority = records.priorityOf(record);
    this.readyAt = timeOf(records, record);
    this.#order = order;
    this.#record = record;
  }

  /**
   * Returns the record of a value that is an entry in this order; `NONE` for any other value. A discipline may return
   * anything, including a copy of an entry.
   */
  static recordOf<T>(order: DisciplineOrder<T>, given: unknown): number {
    const entry = Object(given) as Entry<unknown>; // wraps primitive values
    return #order in entry && entry.#order === order && entry.isIn ? entry.#record : NONE;
  }
}

/**
 * Order that a discipline of the user chooses, which works on entries. A discipline may throw, and may call the queue's
 * methods.
 */
export class DisciplineOrder<T> implements Order {
  readonly usesTime = true;
  readonly awaitsDone: boolean;
  readonly #discipline: QueueDiscipline<T>;
  readonly #clock: Clock;
  readonly #records: Records;
  /** Number of removed entries that the discipline still has, because it can't remove entries. */
  #gone = 0;
  /** Record of an entry that was popped in the search for one that was not removed; `NONE` if there is none. */
  #next = NONE;
  constructor(discipline: QueueDiscipline<T>, records: Records, clock: Clock) {
    this.#discipline = discipline;
    this.#records = records;
    this.#clock = clock;
    this.awaitsDone = discipline.done !== undefined;
  }

  get length(): number {
    const { length } = this.#discipline;
    return this.#gone === 0 && this.#next === NONE ? length : this.#lengthWithoutGone(length);
  }

  /** Returns the number of entries that were not removed. Some removed ones may be blocked in the discipline. */
  #lengthWithoutGone(length: number): number {
    if (length > this.#gone) return length - this.#gone + (this.#next === NONE ? 0 : 1);
    while (this.#next === NONE && this.#discipline.length > 0) {
      const record = this.#popped();
      if (record === NONE) return 0;
      this.#next = record;
    }
    return this.#next === NONE ? 0 : 1;
  }

  get blocked(): number {
    return this.#discipline.blocked ?? 0;
  }

  get nextChangeAt(): number | undefined {
    return this.#discipline.nextChangeAt;
  }

  get groups(): OrderGroups | undefined {
    return this.#discipline.pauseGroup && this.#discipline as OrderGroups;
  }

  push(record: number): void {
    const entry = new Entry<T>(this, this.#records, record);
    setEntry(this.#records, record, entry);
    try {
      this.#discipline.push(entry);
    } catch (error) {
      if (entry.isIn) setEntry(this.#records, record, undefined); // unless it was popped before the discipline threw
      entry.isIn = false;
      throw error;
    }
  }

  remove(record: number): void {
    const entry = entryOf(this.#records, record) as Entry<T>;
    if (record === this.#next) {
      this.#next = NONE;
      if (this.awaitsDone) this.#discipline.done!(entry, { durationMs: 0 });
    } else if (this.#discipline.remove !== undefined) this.#discipline.remove(entry);
    else {
      entry.isRemoved = true;
      this.#gone++;
    }
    entry.isIn = false;
    setEntry(this.#records, record, undefined);
  }

  pop(): number {
    const record = this.#next === NONE ? this.#popped() : this.#next;
    if (record === NONE) {
      throw argumentError("get an item", "the discipline returned no ready item: each queue needs its own", Error);
    }
    this.#next = NONE;
    (entryOf(this.#records, record) as Entry<T>).isIn = false;
    if (!this.awaitsDone) setEntry(this.#records, record, undefined);
    return record;
  }

  /** Pops entries until one was not removed. Returns its record; `NONE` if the discipline returns no ready entry. */
  #popped(): number {
    const now = this.awaitsDone ? this.#clock.now() : 0; // first, because the clock may throw
    do {
      const entry = this.#discipline.pop() as Entry<T> | undefined;
      if (!entry?.isRemoved) {
        const record = Entry.recordOf(this, entry);
        if (record !== NONE) entry!.poppedAt = now;
        return record;
      }
      this.#gone--;
      entry.isRemoved = false;
      this.#discipline.done?.(entry, { durationMs: 0 });
    } while (this.#discipline.length > 0);
    return NONE;
  }

  touch(record: number): void {
    if (record === this.#next) return;
    const entry = entryOf(this.#records, record) as Entry<T> | undefined;
    if (entry === undefined) return;
    const { item, priority } = entry;
    entry.item = this.#records.itemOf(record) as T;
    entry.priority = this.#records.priorityOf(record);
    try {
      this.#discipline.touch(entry);
    } catch (error) {
      entry.item = item;
      entry.priority = priority;
      throw error;
    }
  }

  done(record: number, durationMs?: number): void {
    const entry = entryOf(this.#records, record) as Entry<T> | undefined;
    if (entry === undefined) return;
    setEntry(this.#records, record, undefined);
    let ms = durationMs ?? 0; // in case the clock throws
    try {
      ms = durationMs ?? this.#clock.now() - entry.poppedAt;
    } finally {
      this.#discipline.done?.(entry, { durationMs: ms });
    }
  }

  peek(limit: number): number[] {
    const entries: unknown[] = this.#discipline.peek?.(limit) ?? [];
    const records = entries.map((entry) => Entry.recordOf(this, entry)).filter((record) => record !== NONE);
    return this.#next === NONE ? records : [this.#next, ...records].slice(0, limit);
  }
}
