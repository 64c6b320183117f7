import { SEAT } from "../base/brands.ts";
import type { Clock } from "../base/clock.ts";
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
  /** Its neighbours among those that are held. */
  previous: Entry<T> | undefined = undefined;
  next: Entry<T> | undefined = undefined;

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
    if (typeof given !== "object" || given === null || !(#line in given)) return false;
    const entry = given as Entry<unknown>;
    return entry.#line === line && entry.ticket >= READY;
  }
}

/**
 * A line in which a discipline says whose turn it is.
 *
 * A discipline is somebody else's code: it may throw, and it may call the queue, which knows the key by then.
 */
export class DisciplineLine<T> implements Line<T> {
  held = 0;
  called = 0;
  drawn = 0;
  priority = 0;
  readonly #discipline: QueueDiscipline<T>;
  readonly #clock: Clock;
  readonly #entries = new ChurnMap<unknown, Entry<T>>();
  /** Those that are held, as a linked list: the one that was called first, and the one called last. */
  #firstHeld: Entry<T> | undefined = undefined;
  /** It is often done next, and known without a look. */
  #lastHeld: Entry<T> | undefined = undefined;
  /** The last ticket that was drawn. */
  #last = READY;
  /** When the last key became ready. */
  #latest = -Infinity;

  constructor(discipline: QueueDiscipline<T>, clock: Clock) {
    this.#discipline = discipline;
    this.#clock = clock;
  }

  get length(): number {
    return this.#discipline.length;
  }

  get heldBack(): number {
    return this.#discipline.heldBack ?? 0;
  }

  get size(): number {
    return this.#entries.size;
  }

  ticketOf(key: unknown): number | undefined {
    return this.#entries.get(key)?.ticket;
  }

  join(key: unknown, item: T, priority: number): number {
    this.#latest = Math.max(this.#latest, this.#clock.now()); // a clock may be set back
    const entry = new Entry(this, key, item, priority, this.#latest, ++this.#last);
    this.#entries.set(key, entry);
    try {
      this.#discipline.push(entry);
    } catch (error) {
      entry.ticket = GONE; // the discipline may have kept it
      this.#entries.delete(key);
      throw error;
    }
    return entry.ticket;
  }

  rejoin(key: unknown, item: T): number {
    const entry = this.#heldEntry(key);
    this.#release(entry);
    try {
      this.#discipline.done?.(entry);
      return this.join(key, item, entry.nextPriority);
    } catch (error) {
      this.#entries.delete(key);
      throw error;
    }
  }

  next(): unknown {
    const entry = this.#discipline.pop();
    if (!Entry.isReady(this, entry)) {
      throw new Error(
        "Cannot get an item as the discipline gave out one that is not ready: a discipline is for one queue",
      );
    }
    this.#hold(entry);
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
    try {
      this.#discipline.touch(entry);
    } catch (error) {
      Object.assign(entry, before);
      throw error;
    }
  }

  leave(key: unknown): void {
    const entry = this.#heldEntry(key);
    this.#release(entry);
    this.#entries.remove(key);
    this.#discipline.done?.(entry);
  }

  /**
   * What the discipline tells first; then others that are ready, in no particular order, as it may know less than all.
   * Some of those may be held back: that only the discipline knows.
   */
  listReady(limit: number): ListedKey[] {
    const count = Math.min(limit, this.length);
    const ready = new Set<ListedKey>(this.#discipline.peek?.(count));
    for (const [, entry] of this.#entries.entries()) {
      if (ready.size >= count) break;
      if (entry.ticket > this.called) ready.add(entry);
    }
    return [...ready];
  }

  listHeld(limit: number): ListedKey[] {
    const held: ListedKey[] = [];
    for (let entry = this.#firstHeld; entry !== undefined && held.length < limit; entry = entry.next) held.push(entry);
    return held;
  }

  #heldEntry(key: unknown): Entry<T> {
    return this.#lastHeld?.key === key ? this.#lastHeld! : this.#entries.get(key)!;
  }

  #hold(entry: Entry<T>): void {
    entry.previous = this.#lastHeld;
    if (this.#lastHeld === undefined) this.#firstHeld = entry;
    else this.#lastHeld.next = entry;
    this.#lastHeld = entry;
    this.held++;
  }

  #release({ previous, next }: Entry<T>): void {
    if (previous === undefined) this.#firstHeld = next;
    else previous.next = next;
    if (next === undefined) this.#lastHeld = previous;
    else next.previous = previous;
    this.held--;
  }
}
