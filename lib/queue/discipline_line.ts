import type { Clock } from "../base/clock.ts";
import type { QueueDiscipline, ReadyEntry } from "../contracts/discipline.ts";
import { ChurnMap } from "../structures/churn_map.ts";
import type { Line } from "./line.ts";

/**
 * Added to the ticket of a key that is ready: a discipline calls keys in another order than that of their tickets, and
 * a ready one has a greater ticket than the last one called.
 */
const READY = 2 ** 52;

interface Entry<T> extends ReadyEntry<T> {
  item: T;
  ticket: number;
}

/**
 * A line in which a discipline says whose turn it is.
 *
 * A discipline is somebody else's code: it may throw, and it may call the queue, which knows the key by then.
 */
export class DisciplineLine<T> implements Line<T> {
  called = 0;
  drawn = 0;
  readonly #discipline: QueueDiscipline<T>;
  readonly #clock: Clock;
  readonly #entries = new ChurnMap<unknown, Entry<T>>();
  /** The last ticket that was drawn. */
  #last = READY;

  constructor(discipline: QueueDiscipline<T>, clock: Clock) {
    this.#discipline = discipline;
    this.#clock = clock;
  }

  get length(): number {
    return this.#discipline.length;
  }

  get size(): number {
    return this.#entries.size;
  }

  ticketOf(key: unknown): number | undefined {
    return this.#entries.get(key)?.ticket;
  }

  join(key: unknown, item: T): number {
    const entry: Entry<T> = { key, item, priority: 0, readyAt: this.#clock.now(), ticket: ++this.#last };
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
    return this.join(key, item);
  }

  next(): unknown {
    const entry = this.#discipline.pop() as Entry<T> | undefined;
    if (entry === undefined || this.#entries.get(entry.key) !== entry || entry.ticket < READY) {
      throw new Error("Cannot get an item as the discipline gave out one that is not ready");
    }
    this.drawn = entry.ticket;
    entry.ticket = ++this.called;
    return entry.key;
  }

  addAgain(key: unknown, ticket: number): void {
    this.#entries.get(key)!.ticket = -ticket;
  }

  touch(key: unknown, item: T): void {
    const entry = this.#entries.get(key)!;
    const before = entry.item;
    entry.item = item;
    try {
      this.#discipline.touch(entry);
    } catch (error) {
      entry.item = before;
      throw error;
    }
  }

  leave(key: unknown): void {
    this.#entries.remove(key);
  }
}
