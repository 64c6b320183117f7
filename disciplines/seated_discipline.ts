import { type Clock, systemClock } from "../lib/base/clock.ts";
import type { QueueDiscipline, ReadyEntry } from "../lib/contracts/discipline.ts";
import { type Line, setLineMaker } from "../lib/queue/line.ts";
import { DisciplineUse, type OrderUser, type SeatOrder } from "../lib/queue/seat_order.ts";
import { SeatedLine } from "../lib/queue/seated_line.ts";
import { NONE, Seats } from "../lib/structures/seats.ts";

/** Ticket of an entry that was popped and is not done. */
const POPPED = 0;

/**
 * Discipline that is an order of seats.
 *
 * A queue uses the discipline through a line of its own, in which no key has an entry. Anything else that uses the
 * discipline, such as a discipline that wraps this one, calls the methods of `QueueDiscipline`, which give each entry a
 * seat. The queue of a derived class calls them too, because the class may override them. The methods of an instance
 * can't be replaced.
 */
export class SeatedDiscipline<O extends SeatOrder = SeatOrder> implements QueueDiscipline<unknown>, OrderUser {
  readonly #makeOrder: (seats: Seats, clock: Clock) => O;
  /** Clock of the queue. The queue of a discipline that wraps this one is unknown: it has the system clock. */
  #clock = systemClock;
  /** Seats and order of the entries; `undefined` until they are needed. */
  #table: Seats | undefined;
  #order: O | undefined;
  readonly #use = new DisciplineUse();
  #pushed = 0;
  /** Whether the class of the discipline is not derived from a built-in one. */
  readonly #isBuiltIn: boolean;

  /**
   * @param makeOrder Makes the order of the seats of a table, for a queue with a clock.
   * @param prototype Prototype of the built-in class.
   */
  constructor(makeOrder: (seats: Seats, clock: Clock) => O, prototype: object = SeatedDiscipline.prototype) {
    this.#makeOrder = makeOrder;
    setLineMaker(this, (given, clock) => this.#makeLine(given, clock));
    this.#isBuiltIn = Object.getPrototypeOf(this) === prototype;
    if (this.#isBuiltIn) Object.preventExtensions(this);
  }

  get order(): O {
    return this.#order ??= this.#makeOrder(this.#seats, this.#clock);
  }

  get length(): number {
    return this.#use.length;
  }

  get blocked(): number {
    return this.#use.blocked;
  }

  get #seats(): Seats {
    return this.#table ??= new Seats();
  }

  push(entry: ReadyEntry<unknown>): void {
    this.#use.begin(this);
    const seats = this.#seats;
    const seat = seats.take(entry);
    const ticket = ++this.#pushed;
    seats.setTicket(seat, ticket);
    seats.setPriority(seat, entry.priority);
    seats.setTime(seat, entry.readyAt);
    try {
      this.order.push(seat, entry.item, entry.key, entry);
    } catch (error) {
      if (seats.ticketOf(seat) === ticket) seats.free(seat); // unless the entry was popped before the error
      throw error;
    }
  }

  pop(): ReadyEntry<unknown> | undefined {
    const seat = this.order.pop();
    if (seat === NONE) return undefined;
    const entry = this.entryOf(seat);
    if (this.order.awaitsDone) this.#seats.setTicket(seat, POPPED);
    else this.#seats.free(seat);
    return entry;
  }

  touch(entry: ReadyEntry<unknown>): void {
    const seats = this.#seats;
    const seat = seats.seatOf(entry);
    if (seat === NONE || seats.ticketOf(seat) === POPPED) return;
    const before = seats.priorityOf(seat);
    if (entry.priority > before) seats.setPriority(seat, entry.priority);
    try {
      this.order.touch(seat, before, entry.item);
    } catch (error) {
      seats.setPriority(seat, before);
      throw error;
    }
  }

  done(entry: ReadyEntry<unknown>, work?: { readonly durationMs: number }): void {
    const seat = this.#seats.seatOf(entry);
    if (seat === NONE || this.#seats.ticketOf(seat) !== POPPED) return;
    this.#seats.free(seat);
    this.order.done(seat, work?.durationMs);
  }

  entryOf(seat: number): ReadyEntry<unknown> {
    return this.#seats.keyOf(seat) as ReadyEntry<unknown>;
  }

  peek(limit: number): ReadyEntry<unknown>[] {
    return this.#use.peek(limit);
  }

  /**
   * Makes an order of the seats of a table.
   *
   * @param given The discipline as its user has it: perhaps an object that wraps this discipline.
   * @returns The order; `undefined` if the methods of `given` must be used, because they may be other methods or
   * because this discipline has entries.
   */
  orderOf(given: object, seats: Seats, clock: Clock): O | undefined {
    const isUsable = this.#isBuiltIn && given === this && !(this.#table !== undefined && this.#table.size > 0);
    return isUsable ? this.#makeOrder(seats, clock) : undefined;
  }

  #makeLine(given: object, clock: Clock): Line<unknown> | undefined {
    this.#clock = clock;
    const seats = new Seats();
    const order = this.orderOf(given, seats, clock);
    return order && new SeatedLine(seats, order, this.#use, clock);
  }
}
