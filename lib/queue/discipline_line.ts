import type { Clock } from "../base/clock.ts";
import type { QueueDiscipline, ReadyEntry } from "../contracts/discipline.ts";
import { ChurnMap } from "../base/churn_map.ts";
import { type Line, type LineGroups, type ListedKey, noReadyItem, READY } from "./line.ts";

/** Ticket of an entry that was not added to the line. */
const GONE = 0;

/** Entry for a key, from the time the key becomes ready until it is done. */
class Entry<T> implements ReadyEntry<T> {
  readonly #line: DisciplineLine<unknown>;
  readonly key: unknown;
  item: T;
  priority: number;
  readonly readyAt: number;
  ticket: number;
  /** Priority with which the key was added again while processing. */
  nextPriority = 0;
  /** Time at which the entry was popped, if the discipline is told of the work on it. */
  poppedAt = 0;
  /** Whether the discipline refused the entry. */
  isRefused = false;
  /** Neighbors in the list of processing entries, or in the list of refused entries. */
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

  /**
   * Reports whether a value is a ready entry of this line. A discipline may return anything, including a copy of an
   * entry.
   */
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
 * A discipline may be third-party code. Such code may throw, and may call the queue's methods, so the line stores a key
 * before it calls the discipline. If the discipline refuses a key that the queue accepted earlier, the key is not lost:
 * the line hands it out before the discipline's keys.
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
  /** Entries of ready keys that the discipline refused. */
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

  get nextChangeAt(): number | undefined {
    return this.#discipline.nextChangeAt;
  }

  get groups(): LineGroups | undefined {
    return this.#discipline.pauseGroup && this.#discipline as LineGroups;
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

  join(key: unknown, item: T, priority: number): number {
    return this.#join(key, item, priority, this.#timeOfJoin(), false);
  }

  #join(key: unknown, item: T, priority: number, readyAt: number, isKept: boolean): number {
    const entry = this.#enter(key, item, priority, readyAt);
    try {
      this.#discipline.push(entry);
    } catch (error) {
      if (entry.ticket > this.called) { // unless the key was handed out before the discipline threw
        entry.ticket = GONE; // the discipline may still have the entry
        if (isKept) this.#refuse(this.#enter(key, item, priority, readyAt));
        else this.#entries.delete(key);
      }
      throw error;
    }
    return entry.ticket;
  }

  keep(key: unknown, item: T, priority: number): number {
    return this.#refuse(this.#enter(key, item, priority, this.#timeOfJoin()));
  }

  #refuse(entry: Entry<T>): number {
    entry.isRefused = true;
    this.#refused.append(entry);
    return entry.ticket;
  }

  rejoin(key: unknown, item: T): number {
    const entry = this.#processingEntry(key);
    this.#processing.remove(entry);
    let ticket: number;
    let readyAt = this.latest; // in case the clock throws
    try {
      this.#tellDone(entry);
    } finally {
      try {
        readyAt = this.#timeOfJoin();
      } finally {
        ticket = this.#join(key, item, entry.nextPriority, readyAt, true);
      }
    }
    return ticket;
  }

  next(): unknown {
    // Read before the entry is popped, because the clock may throw.
    const poppedAt = this.#discipline.done === undefined ? 0 : this.#clock.now();
    const entry = this.#refused.length > 0 ? this.#refused.shift() : this.#discipline.pop();
    if (!Entry.isReady(this, entry)) throw noReadyItem();
    this.#processing.append(entry);
    this.drawn = entry.ticket;
    this.priority = entry.priority;
    entry.ticket = ++this.called;
    entry.poppedAt = poppedAt;
    return entry.key;
  }

  addAgain(key: unknown, ticket: number, priority: number): void {
    const entry = this.#entries.get(key)!;
    entry.nextPriority = ticket < 0 ? Math.max(entry.nextPriority, priority) : priority;
    entry.ticket = -Math.abs(ticket);
  }

  unmark(key: unknown): number {
    const entry = this.#entries.get(key)!;
    entry.ticket = -entry.ticket;
    return entry.nextPriority;
  }

  touch(key: unknown, item: T, priority: number): void {
    const entry = this.#entries.get(key)!;
    const before = { item: entry.item, priority: entry.priority };
    entry.item = item;
    if (priority > entry.priority) entry.priority = priority;
    if (entry.isRefused) return;
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
   * particular order, because `peek` might not return all of them. Some of these keys may be blocked: only the
   * discipline knows which.
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

  /**
   * Returns the entry of a processing key. Often, this is the most recently called key, whose entry is found without a
   * lookup.
   */
  #processingEntry(key: unknown): Entry<T> {
    const { last } = this.#processing;
    return last?.key === key ? last! : this.#entries.get(key)!;
  }

  /** Returns the time at which a key that joins now becomes ready. */
  #timeOfJoin(): number {
    return this.readyAt ?? Math.max(this.latest, this.#clock.now()); // the clock may be set back
  }

  /** Creates an entry with a new ticket for a key. */
  #enter(key: unknown, item: T, priority: number, readyAt: number): Entry<T> {
    this.latest = Math.max(this.latest, readyAt);
    const entry = new Entry(this, key, item, priority, readyAt, ++this.#last);
    this.#entries.set(key, entry);
    return entry;
  }

  /** Notifies the discipline that an entry is done, unless the discipline had refused the entry. */
  #tellDone(entry: Entry<T>): void {
    const discipline = this.#discipline;
    if (entry.isRefused || discipline.done === undefined) return;
    let now = entry.poppedAt; // in case the clock throws
    try {
      now = this.#clock.now();
    } finally {
      discipline.done(entry, { durationMs: now - entry.poppedAt });
    }
  }
}
