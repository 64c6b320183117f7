import { ChurnMap } from "../structures/churn_map.ts";
import { Priorities } from "../structures/priorities.ts";
import type { Line, ListedKey } from "./line.ts";

/** So few held keys are worth a map of their own. Of more, some are found soon among all keys. */
const FEW = 10_000;

/** So few keys may stay in memory. */
const SLACK = 6;

/** A ready key that kept an older place in the map. */
interface Returned {
  readonly key: unknown;
  readonly ticket: number;
  next: Returned | undefined;
}

/**
 * First in, first out: tickets are called in the order of their numbers. Priorities change nothing here, but are kept.
 *
 * One map from keys to tickets is the whole line. An iterator over it gives the keys in the order in which they were put
 * there, which is that of their tickets, and goes on with what is put there later. It is asked only while a key is
 * ready, so it never ends.
 *
 * A key that comes back may have kept an older place in the map, where the iterator has passed. It waits in a second
 * line, a linked list. Tickets have no gaps, so the first one there is next exactly if its ticket is.
 */
export class FifoLine implements Line<unknown> {
  readonly heldBack = 0;
  called = 0;
  priority = 0;
  /** The last ticket that was drawn. */
  #drawn = 0;
  readonly #tickets = new ChurnMap<unknown, number>(() => this.#beginAnew());
  /** Of keys that are ready, or were added again while they were held. */
  readonly #priorities = new Priorities();
  /** Those that held keys were called with. */
  readonly #heldPriorities = new Priorities();
  /** The keys that are held and their tickets, once a snapshot had to look for a few of them among all keys. */
  #held: ChurnMap<unknown, number> | undefined = undefined;
  #fresh = this.#tickets.keys();
  /** Keys that a snapshot has taken from the iterator ahead of time: the last one is next. */
  #seen: unknown[] = [];
  /** The ticket after which keys were called whose memory the iterator may keep. */
  #begunAt = 0;
  /** The second line: its first and its last key, and how many there are. */
  #first: Returned | undefined = undefined;
  #last: Returned | undefined = undefined;
  #returned = 0;

  get length(): number {
    return this.#drawn - this.called;
  }

  get held(): number {
    return this.size - this.length;
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

  join(key: unknown, _item: unknown, priority: number): number {
    const ticket = this.#drawn + 1;
    this.#priorities.set(key, priority);
    if (this.#tickets.set(key, ticket)) this.#return(key, ticket);
    return this.#drawn = ticket;
  }

  rejoin(key: unknown): number {
    this.#release(key);
    const ticket = ++this.#drawn;
    this.#tickets.set(key, ticket);
    this.#return(key, ticket);
    return ticket;
  }

  next(): unknown {
    const key = this.#nextKey();
    this.priority = this.#priorities.take(key);
    this.#heldPriorities.set(key, this.priority);
    this.#held?.set(key, this.called);
    return key;
  }

  addAgain(key: unknown, ticket: number, priority: number): void {
    if (ticket < 0) return this.#priorities.raise(key, priority);
    this.#priorities.set(key, priority); // first, as this may throw
    this.#tickets.set(key, -ticket);
  }

  touch(key: unknown, _item: unknown, priority: number): void {
    this.#priorities.raise(key, priority);
  }

  leave(key: unknown): void {
    this.#release(key);
    this.#tickets.remove(key);
    if (this.called - this.#begunAt > 2 * this.#tickets.size + SLACK) this.#beginAnew();
  }

  listReady(limit: number): ListedKey[] {
    const count = Math.min(limit, this.length);
    this.#look(count);
    let returned = this.#first;
    let seen = this.#seen.length;
    return Array.from({ length: count }, (_, i) => {
      let key: unknown;
      if (returned?.ticket === this.called + 1 + i) {
        key = returned.key;
        returned = returned.next;
      } else key = this.#seen[--seen];
      return { key, priority: this.#priorities.get(key) };
    });
  }

  listHeld(limit: number): ListedKey[] {
    const held: ListedKey[] = [];
    const count = Math.min(limit, this.held);
    if (count > 0 && this.held <= FEW) this.#held ??= this.#findHeld();
    for (const [key, ticket] of (this.#held ?? this.#tickets).entries()) {
      if (held.length === count) break;
      if (ticket <= this.called) held.push({ key, priority: this.#heldPriorities.get(key) });
    }
    return held;
  }

  #findHeld(): ChurnMap<unknown, number> {
    const held = new ChurnMap<unknown, number>();
    for (const [key, ticket] of this.#tickets.entries()) {
      if (ticket <= this.called) held.set(key, ticket);
      if (held.size === this.held) break;
    }
    return held;
  }

  /** Forgets what is known of a key because it is held. */
  #release(key: unknown): void {
    this.#heldPriorities.set(key, 0);
    this.#held?.remove(key);
  }

  #nextKey(): unknown {
    const ticket = ++this.called;
    const first = this.#first;
    if (first === undefined || first.ticket !== ticket) {
      return this.#seen.length > 0 ? this.#seen.pop() : this.#fresh.next().value;
    }
    this.#first = first.next;
    this.#returned--;
    return first.key;
  }

  /** Puts a key at the end of the second line. */
  #return(key: unknown, ticket: number): void {
    const returned = { key, ticket, next: undefined };
    if (this.#first === undefined) this.#first = returned;
    else this.#last!.next = returned;
    this.#last = returned;
    this.#returned++;
  }

  /** Takes so many keys from the iterator as are ready, and no more than `count`, to be seen and to be called from there. */
  #look(count: number): void {
    const fresh = Math.min(count, this.length - this.#returned);
    if (this.#seen.length >= fresh) return;
    const keys = this.#seen.reverse();
    while (keys.length < fresh) keys.push(this.#fresh.next().value);
    this.#seen = keys.reverse();
  }

  /**
   * Begins a new iterator, as one may keep the memory that the map had before it shrank, and the keys in there, until it
   * moves on: after each sweep of the map, and whenever many more keys were called than there are. It has to pass the
   * keys in front: those that are held, came back, are gone, or were seen.
   */
  #beginAnew(): void {
    const fresh = this.length - this.#returned - this.#seen.length;
    this.#fresh = this.#tickets.keys();
    for (let passed = this.#tickets.span - fresh; passed > 0; passed--) this.#fresh.next();
    this.#begunAt = this.called - (this.size - this.length);
  }
}
