import { ChurnMap } from "../structures/churn_map.ts";
import type { Line } from "./line.ts";

/** So few keys may stay in memory. */
const SLACK = 6;

/** A ready key that kept an older place in the map. */
interface Returned {
  readonly key: unknown;
  readonly ticket: number;
  next: Returned | undefined;
}

/**
 * First in, first out: tickets are called in the order of their numbers.
 *
 * One map from keys to tickets is the whole line. An iterator over it gives the keys in the order in which they were put
 * there, which is that of their tickets, and goes on with what is put there later. It is asked only while a key is
 * ready, so it never ends.
 *
 * A key that comes back may have kept an older place in the map, where the iterator has passed. It waits in a second
 * line, a linked list. Tickets have no gaps, so the first one there is next exactly if its ticket is.
 */
export class FifoLine implements Line<unknown> {
  called = 0;
  /** The last ticket that was drawn. */
  #drawn = 0;
  readonly #tickets = new ChurnMap<unknown, number>(() => this.#beginAnew());
  #fresh = this.#tickets.keys();
  /** The ticket after which keys were called whose memory the iterator may keep. */
  #begunAt = 0;
  /** The second line: its first and its last key, and how many there are. */
  #first: Returned | undefined = undefined;
  #last: Returned | undefined = undefined;
  #returned = 0;

  get length(): number {
    return this.#drawn - this.called;
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
    const ticket = this.#drawn + 1;
    if (this.#tickets.set(key, ticket)) this.#return(key, ticket);
    return this.#drawn = ticket;
  }

  rejoin(key: unknown): number {
    const ticket = ++this.#drawn;
    this.#tickets.set(key, ticket);
    this.#return(key, ticket);
    return ticket;
  }

  next(): unknown {
    const ticket = ++this.called;
    const first = this.#first;
    if (first === undefined || first.ticket !== ticket) return this.#fresh.next().value;
    this.#first = first.next;
    this.#returned--;
    return first.key;
  }

  addAgain(key: unknown, ticket: number): void {
    this.#tickets.set(key, -ticket);
  }

  touch(): void {}

  leave(key: unknown): void {
    this.#tickets.remove(key);
    if (this.called - this.#begunAt > 2 * this.#tickets.size + SLACK) this.#beginAnew();
  }

  /** Puts a key at the end of the second line. */
  #return(key: unknown, ticket: number): void {
    const returned = { key, ticket, next: undefined };
    if (this.#first === undefined) this.#first = returned;
    else this.#last!.next = returned;
    this.#last = returned;
    this.#returned++;
  }

  /**
   * Begins a new iterator, as one may keep the memory that the map had before it shrank, and the keys in there, until it
   * moves on: after each sweep of the map, and whenever many more keys were called than there are. It has to pass the
   * keys in front: those that are held, came back or are gone.
   */
  #beginAnew(): void {
    const fresh = this.length - this.#returned;
    this.#fresh = this.#tickets.keys();
    for (let passed = this.#tickets.span - fresh; passed > 0; passed--) this.#fresh.next();
    this.#begunAt = this.called - (this.size - this.length);
  }
}
