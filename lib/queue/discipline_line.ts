import { SEAT } from "../base/brands.ts";
import type { Clock } from "../base/clock.ts";
import { argumentError } from "../base/errors.ts";
import type { QueueDiscipline, ReadyEntry } from "../contracts/discipline.ts";
import { ChurnMap } from "../structures/churn_map.ts";
import type { Line, ListedKey } from "./line.ts";

/**
 * Offset of the tickets of ready keys. A ready key must have a greater ticket than the key called last, and a
 * discipline calls keys in any order.
 */
const READY = 2 ** 52;

/** Ticket of an entry that never got into the line. */
const GONE = 0;

/** Seat of an entry that the discipline refused and does not have. */
const NO_SEAT = -1;

/** Key in the line, from the time it becomes ready until it is done. */
class Entry<T> implements ReadyEntry<T> {
  readonly #line: DisciplineLine<unknown>;
  readonly key: unknown;
  item: T;
  priority: number;
  readonly readyAt: number;
  ticket: number;
  /** Priority with which the key was added again while processing. */
  nextPriority = 0;
  /** Used by the discipline. */
  [SEAT] = 0;
  /** Neighbors among the processing keys, or among the refused ones. */
  previous: Entry<T> | undefined;
  next: Entry<T> | undefined;

  constructor(line: DisciplineLine<T>, key: unknown, item: T, priority: number, readyAt: number, ticket: number) {
    this.#line = line;
    this.key = key;
    this.item = item;
    this.priority = priority;
    this.readyAt = readyAt;
    this.ticket = ticket;
  }

  /** Reports whether a value is a ready entry of this line. A discipline may return anything, including a copy. */
  static isReady<T>(line: DisciplineLine<T>, given: unknown): given is Entry<T> {
    const entry = Object(given) as Entry<unknown>; // wraps primitive values
    return #line in entry && entry.#line === line && entry.ticket > line.called;
  }
}

/** List of entries, first in, first out. An entry is in at most one list. */
class EntryList<T> {
  length = 0;
  last: Entry<T> | undefined;
  #first: Entry<T> | undefined;

  append(entry: Entry<T>): void {
    entry.previous = this.last;
    entry.next = undefined;
    if (this.last === undefined) this.#first = entry;
    else this.last.next = entry;
    this.last = entry;
    this.length++;
  }

  remove({ previous, next }: Entry<T>): void {
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.last = previous;
    else next.previous = previous;
    this.length--;
  }

  shift(): Entry<T> | undefined {
    const first = this.#first;
    if (first !== undefined) this.remove(first);
    return first;
  }

  list(limit: number): Entry<T>[] {
    const entries: Entry<T>[] = [];
    for (let entry = this.#first; entry !== undefined && entries.length < limit; entry = entry.next) {
      entries.push(entry);
    }
    return entries;
  }
}

/**
 * Line whose order is chosen by a discipline.
 *
 * A discipline is third-party code. It may throw, and it may call the queue, which already knows the key by then. An
 * accepted key is not lost if the discipline refuses it: the line hands it out before the keys that the discipline has.
 */
export class DisciplineLine<T> implements Line<T> {
  called = 0;
  drawn = 0;
  priority = 0;
  latest = -Infinity;
  batches = 0;
  readyAt: number | undefined;
  readonly #discipline: QueueDiscipline<T>;
  readonly #clock: Clock;
  readonly #entries = new ChurnMap<unknown, Entry<T>>();
  readonly #processing = new EntryList<T>();
  /** Ready keys that the discipline refused and does not have. */
  readonly #refused = new EntryList<T>();
  /** Last ticket drawn. */
  #last = READY;

  constructor(discipline: QueueDiscipline<T>, clock: Clock) {
    this.#discipline = discipline;
    this.#clock = clock;
  }

  get length(): number {
    return this.batches > 0 ? 0 : this.#ready;
  }

  get blocked(): number {
    return (this.#discipline.blocked ?? 0) + this.#ready - this.length;
  }

  get processing(): number {
    return this.#processing.length;
  }

  get size(): number {
    return this.#entries.size;
  }

  ticketOf(key: unknown): number | undefined {
    return this.#entries.get(key)?.ticket;
  }

  join(key: unknown, item: T, priority: number, isKept = false): number {
    const entry = this.#enter(key, item, priority);
    try {
      this.#discipline.push(entry);
    } catch (error) {
      if (entry.ticket > this.called) { // unless the discipline had the key handed out before it threw
        entry.ticket = GONE; // the discipline may still have the entry
        if (isKept) this.keep(key, item, priority);
        else this.#entries.delete(key);
      }
      throw error;
    }
    return entry.ticket;
  }

  keep(key: unknown, item: T, priority: number): number {
    const entry = this.#enter(key, item, priority);
    entry[SEAT] = NO_SEAT;
    this.#refused.append(entry);
    return entry.ticket;
  }

  rejoin(key: unknown, item: T): number {
    const entry = this.#processingEntry(key);
    this.#processing.remove(entry);
    let ticket: number;
    try {
      this.#tellDone(entry);
    } finally {
      ticket = this.join(key, item, entry.nextPriority, true);
    }
    return ticket;
  }

  next(): unknown {
    const entry = this.#refused.shift() ?? this.#discipline.pop();
    if (!Entry.isReady(this, entry)) {
      const reason = "the discipline returned no ready item: each queue needs its own";
      throw argumentError("get an item", reason, Error);
    }
    this.#processing.append(entry);
    this.drawn = entry.ticket;
    this.priority = entry.priority;
    entry.ticket = ++this.called;
    return entry.key;
  }

  addAgain(key: unknown, ticket: number, priority: number): void {
    const entry = this.#entries.get(key)!;
    entry.nextPriority = ticket < 0 ? Math.max(entry.nextPriority, priority) : priority;
    entry.ticket = -Math.abs(ticket);
  }

  touch(key: unknown, item: T, priority: number): void {
    const entry = this.#entries.get(key)!;
    const before = { item: entry.item, priority: entry.priority };
    entry.item = item;
    if (priority > entry.priority) entry.priority = priority;
    if (entry[SEAT] === NO_SEAT) return;
    try {
      this.#discipline.touch(entry);
    } catch (error) {
      Object.assign(entry, before);
      throw error;
    }
  }

  leave(key: unknown): void {
    const entry = this.#processingEntry(key);
    this.#processing.remove(entry);
    this.#entries.remove(key);
    this.#tellDone(entry);
  }

  /**
   * Lists refused keys first, then the keys that the discipline's `peek` returns. Other ready keys follow in no
   * particular order, because `peek` may not know all of them. Some of these may be blocked, which only the discipline
   * knows.
   */
  listReady(limit: number): ListedKey[] {
    const count = Math.min(limit, this.length);
    const ready = new Set<ListedKey>(this.#refused.list(count));
    for (const entry of this.#discipline.peek?.(count - ready.size) ?? []) ready.add(entry);
    for (const [, entry] of this.#entries.entries()) {
      if (ready.size >= count) break;
      if (entry.ticket > this.called) ready.add(entry);
    }
    return [...ready];
  }

  listProcessing(limit: number): ListedKey[] {
    return this.#processing.list(limit);
  }

  get #ready(): number {
    return this.#discipline.length + this.#refused.length;
  }

  /** Returns the entry of a processing key. Often it is the key called last, which needs no lookup. */
  #processingEntry(key: unknown): Entry<T> {
    const { last } = this.#processing;
    return last?.key === key ? last! : this.#entries.get(key)!;
  }

  /** Creates an entry with a new ticket for a key. */
  #enter(key: unknown, item: T, priority: number): Entry<T> {
    const readyAt = this.readyAt ?? Math.max(this.latest, this.#clock.now()); // the clock may be set back
    this.latest = Math.max(this.latest, readyAt);
    const entry = new Entry(this, key, item, priority, readyAt, ++this.#last);
    this.#entries.set(key, entry);
    return entry;
  }

  /** Notifies the discipline that an entry is done, unless the discipline had refused it. */
  #tellDone(entry: Entry<T>): void {
    if (entry[SEAT] !== NO_SEAT) this.#discipline.done?.(entry);
  }
}
