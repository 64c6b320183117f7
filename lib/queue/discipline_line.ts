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

/** A key, from when it became ready until it is done. */
interface Entry<T> extends ReadyEntry<T> {
  item: T;
  priority: number;
  ticket: number;
  /** The priority that the key was added again with while it is held. */
  nextPriority: number;
  /** For the discipline. */
  [SEAT]: number;
}

/**
 * A line in which a discipline says whose turn it is.
 *
 * A discipline is somebody else's code: it may throw, and it may call the queue, which knows the key by then.
 */
export class DisciplineLine<T> implements Line<T> {
  called = 0;
  drawn = 0;
  priority = 0;
  readonly #discipline: QueueDiscipline<T>;
  readonly #clock: Clock;
  readonly #entries = new ChurnMap<unknown, Entry<T>>();
  /** Those of `#entries` that are held, so that a snapshot need not search for them. */
  readonly #heldEntries = new ChurnMap<unknown, Entry<T>>();
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

  get held(): number {
    return this.#heldEntries.size;
  }

  get size(): number {
    return this.#entries.size;
  }

  ticketOf(key: unknown): number | undefined {
    return this.#entries.get(key)?.ticket;
  }

  join(key: unknown, item: T, priority: number): number {
    this.#latest = Math.max(this.#latest, this.#clock.now()); // a clock may be set back
    const entry: Entry<T> = {
      key,
      item,
      priority,
      readyAt: this.#latest,
      ticket: ++this.#last,
      nextPriority: 0,
      [SEAT]: 0,
    };
    this.#entries.set(key, entry);
    try {
      this.#discipline.push(entry);
    } catch (error) {
      this.#entries.delete(key);
      throw error;
    }
    return entry.ticket;
  }

  rejoin(key: unknown, item: T): number {
    const entry = this.#entries.get(key)!;
    this.#heldEntries.delete(key);
    try {
      this.#discipline.done?.(entry);
    } catch (error) {
      this.#entries.delete(key);
      throw error;
    }
    return this.join(key, item, entry.nextPriority);
  }

  next(): unknown {
    const entry = this.#discipline.pop() as Entry<T> | undefined;
    if (entry === undefined || this.#entries.get(entry.key) !== entry || entry.ticket < READY) {
      throw new Error("Cannot get an item as the discipline gave out one that is not ready");
    }
    this.#heldEntries.set(entry.key, entry);
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
    const entry = this.#entries.get(key)!;
    this.#heldEntries.delete(key);
    this.#entries.remove(key);
    this.#discipline.done?.(entry);
  }

  listReady(limit: number): ListedKey[] {
    const count = Math.min(limit, this.length);
    return this.#discipline.peek?.(count) ?? this.#firstReady(count);
  }

  listHeld(limit: number): ListedKey[] {
    const held: ListedKey[] = [];
    for (const [, entry] of this.#heldEntries.entries()) {
      if (held.length === limit) break;
      held.push(entry);
    }
    return held;
  }

  #firstReady(count: number): ListedKey[] {
    const ready: ListedKey[] = [];
    for (const [, entry] of this.#entries.entries()) {
      if (ready.length === count) break;
      if (entry.ticket > this.called) ready.push(entry);
    }
    return ready;
  }
}
