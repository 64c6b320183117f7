import { SEAT } from "../base/brands.ts";
import type { Clock } from "../base/clock.ts";
import { argumentError } from "../base/errors.ts";
import type { QueueDiscipline, ReadyEntry } from "../contracts/discipline.ts";
import { ChurnMap } from "../structures/churn_map.ts";
import type { Line, ListedKey } from "./line.ts";

/**
 * Added to the ticket of a key that is ready: a discipline calls keys in another order than that of their tickets, and
 * a ready one has a greater ticket than the last one called.
 */
const READY = 2 ** 52;

/** The ticket of an entry that never got into the line. */
const GONE = 0;

/** The seat of an entry that the discipline does not have, because it refused the key. */
const NO_SEAT = -1;

/** A key, from when it became ready until it is done. */
class Entry<T> implements ReadyEntry<T> {
  readonly #line: DisciplineLine<unknown>;
  readonly key: unknown;
  item: T;
  priority: number;
  readonly readyAt: number;
  ticket: number;
  /** The priority that the key was added again with while it is held. */
  nextPriority = 0;
  /** For the discipline. */
  [SEAT] = 0;
  /** Its neighbours among the processing keys, or among the refused ones. */
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

  /** Whether this is an entry of the line that is ready: a discipline may give out anything, a copy too. */
  static isReady<T>(line: DisciplineLine<T>, given: unknown): given is Entry<T> {
    const entry = Object(given) as Entry<unknown>; // a wrapper of what is no object
    return #line in entry && entry.#line === line && entry.ticket > line.called;
  }
}

/** Entries, first in, first out. An entry is in one list at most. */
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
 * A line in which a discipline says whose turn it is.
 *
 * A discipline is somebody else's code: it may throw, and it may call the queue, which knows the key by then. A key
 * that was accepted is not lost if the discipline refuses it: the line hands it out by itself, before the keys that the
 * discipline has.
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
  /** Ready keys that the discipline does not have, because it refused them. */
  readonly #refused = new EntryList<T>();
  /** The last ticket that was drawn. */
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
      if (entry.ticket > this.called) { // unless the discipline had it handed out before it threw
        entry.ticket = GONE; // the discipline may have it
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
   * Refused keys first; then what the discipline tells; then others that are ready, in no particular order, as it may
   * know less than all. Some of those may be held back: that only the discipline knows.
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

  listHeld(limit: number): ListedKey[] {
    return this.#processing.list(limit);
  }

  get #ready(): number {
    return this.#discipline.length + this.#refused.length;
  }

  /** The key that was called last is often done next, and needs no look. */
  #processingEntry(key: unknown): Entry<T> {
    const { last } = this.#processing;
    return last?.key === key ? last! : this.#entries.get(key)!;
  }

  /** Gives a key a new entry with a new ticket. */
  #enter(key: unknown, item: T, priority: number): Entry<T> {
    const readyAt = this.readyAt ?? Math.max(this.latest, this.#clock.now()); // a clock may be set back
    this.latest = Math.max(this.latest, readyAt);
    const entry = new Entry(this, key, item, priority, readyAt, ++this.#last);
    this.#entries.set(key, entry);
    return entry;
  }

  /** The discipline has heard of an entry only if it handed it out. */
  #tellDone(entry: Entry<T>): void {
    if (entry[SEAT] !== NO_SEAT) this.#discipline.done?.(entry);
  }
}
