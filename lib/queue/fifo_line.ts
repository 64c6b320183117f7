import { ChurnMap } from "../structures/churn_map.ts";
import type { Line } from "./line.ts";

/** So few keys may stay in memory. */
const SLACK = 6;

/**
 * First in, first out: tickets are called in the order of their numbers.
 *
 * One map from keys to tickets is the whole line. An iterator over it gives the keys in the order in which they were put
 * there, which is that of their tickets, and goes on with what is put there later. It is asked only while a key is
 * ready, so it never ends.
 *
 * A key that comes back may have kept an older place in the map, where the iterator has passed. It waits in a second
 * line. Tickets have no gaps, so the first one there is next exactly if its ticket is.
 */
export class FifoLine implements Line<unknown> {
  called = 0;
  /** The last ticket that was drawn. */
  #last = 0;
  readonly #tickets = new ChurnMap<unknown, number>(() => this.#beginAnew());
  #fresh = this.#tickets.keys();
  /** The ticket after which keys were called whose memory the iterator may keep. */
  #begunAt = 0;
  readonly #returned = new ReturnedKeys();

  get length(): number {
    return this.#last - this.called;
  }

  get size(): number {
    return this.#tickets.size;
  }

  get drawn(): number {
    return this.called;
  }

  ticketOf(key: unknown): number | undefined {
    return this.#tickets.get(key);
  }

  join(key: unknown): number {
    const ticket = this.#last + 1;
    if (this.#tickets.set(key, ticket)) this.#returned.push(key, ticket);
    return this.#last = ticket;
  }

  rejoin(key: unknown): number {
    const ticket = ++this.#last;
    this.#tickets.set(key, ticket);
    this.#returned.push(key, ticket);
    return ticket;
  }

  next(): unknown {
    const ticket = ++this.called;
    return this.#returned.firstTicket === ticket ? this.#returned.shift() : this.#fresh.next().value;
  }

  addAgain(key: unknown, ticket: number): void {
    this.#tickets.set(key, -ticket);
  }

  touch(): void {}

  leave(key: unknown): void {
    this.#tickets.remove(key);
    if (this.called - this.#begunAt > 2 * this.#tickets.size + SLACK) this.#beginAnew();
  }

  /**
   * Begins a new iterator, as one may keep the memory that the map had before it shrank, and the keys in there, until it
   * moves on: after each sweep of the map, and whenever many more keys were called than there are. It has to pass
   * the keys in front: those that are held, came back or are gone.
   */
  #beginAnew(): void {
    const fresh = this.length - this.#returned.length;
    this.#fresh = this.#tickets.keys();
    for (let passed = this.#tickets.span - fresh; passed > 0; passed--) this.#fresh.next();
    this.#begunAt = this.called - (this.size - this.length);
  }
}

const MIN_PASSED = 32;

/** The ready keys that kept an older place in the map, in the order of their tickets. */
class ReturnedKeys {
  /** The ticket of the first; 0 if there is none. */
  firstTicket = 0;
  #keys: unknown[] = [];
  #tickets: number[] = [];
  /** Where the first is. Those in front of it were called. */
  #first = 0;

  get length(): number {
    return this.#keys.length - this.#first;
  }

  push(key: unknown, ticket: number): void {
    if (this.length === 0) this.firstTicket = ticket;
    this.#keys.push(key);
    this.#tickets.push(ticket);
  }

  shift(): unknown {
    const key = this.#keys[this.#first];
    this.#keys[this.#first++] = undefined; // or it could not be collected
    this.firstTicket = this.length === 0 ? 0 : this.#tickets[this.#first]!;
    if (this.#first > MIN_PASSED && this.#first * 2 > this.#keys.length) this.#dropPassed();
    return key;
  }

  #dropPassed(): void {
    this.#keys = this.#keys.slice(this.#first);
    this.#tickets = this.#tickets.slice(this.#first);
    this.#first = 0;
  }
}
