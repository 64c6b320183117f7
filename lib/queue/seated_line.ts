import { type Clock, isRealTime } from "../base/clock.ts";
import type { ReadyEntry } from "../contracts/discipline.ts";
import { wallClock } from "../structures/burst.ts";
import { NONE, SeatList, type Seats } from "../structures/seats.ts";
import { type Line, type LineGroups, type ListedKey, noReadyItem, READY } from "./line.ts";
import type { DisciplineUse, OrderUser, SeatOrder } from "./seat_order.ts";

/**
 * Line of a built-in discipline. A key has no object: its ticket, its priority, and what the discipline must know of it
 * are numbers in a table of {@linkcode Seats}.
 *
 * The time of a seat is the time at which the key became ready; while the key is processing, it is the priority with
 * which the key was added again. The links of a seat belong to the order while the key is ready, and to the list of
 * processing keys afterwards.
 *
 * A function of the user that the order calls may throw, and may call the queue's methods. If the order refuses a key
 * that the queue accepted earlier, the key is not lost: the line hands it out before the keys of the order.
 */
export class SeatedLine<T> implements Line<T>, OrderUser {
  called = 0;
  drawn = 0;
  priority = 0;
  latest = -Infinity;
  batches = 0;
  readyAt: number | undefined;
  readonly #seats: Seats;
  readonly order: SeatOrder;
  readonly #use: DisciplineUse;
  /** Clock of the queue, unless the order doesn't depend on times: a look takes as long as a hand-out. */
  readonly #clock: Clock | undefined;
  /** Wall-clock time at which the system clock was last read. */
  #lookedAt = NaN;
  readonly #processing = new SeatList();
  /** Seat of the key that was called or asked for last, because that key is often the next one to change. */
  #recent = NONE;
  /** Items by seat, from the first item on that is not its own key. Only entries need them. */
  #items: unknown[] | undefined;
  /** Ready keys that the order refused. */
  readonly #refused = new Set<number>();
  /** Last ticket drawn. */
  #last = READY;

  constructor(seats: Seats, order: SeatOrder, use: DisciplineUse, clock: Clock) {
    this.#seats = seats;
    this.order = order;
    this.#use = use;
    if (order.usesTime) this.#clock = clock;
  }

  get length(): number {
    return this.batches > 0 ? 0 : this.#ready;
  }

  get blocked(): number {
    return this.#use.blocked + this.#ready - this.length;
  }

  get nextChangeAt(): number | undefined {
    return this.order.nextChangeAt;
  }

  get groups(): LineGroups | undefined {
    return this.order.groups;
  }

  get processing(): number {
    return this.#processing.length;
  }

  get size(): number {
    return this.#seats.size;
  }

  ticketOf(key: unknown): number | undefined {
    const seat = this.#recent = this.#seats.seatOf(key);
    return seat === NONE ? undefined : this.#seats.ticketOf(seat);
  }

  join(key: unknown, item: T, priority: number): number {
    this.#look();
    return this.#enter(this.#seats.take(key), key, item, priority, false);
  }

  keep(key: unknown, _item: T, priority: number): number {
    this.#look();
    const seat = this.#seats.take(key);
    this.#refused.add(seat);
    return this.#draw(seat, priority);
  }

  rejoin(key: unknown, item: T): number {
    const seat = this.#seatOf(key);
    const priority = this.#seats.timeOf(seat);
    this.#processing.remove(this.#seats, seat);
    let ticket: number;
    try {
      if (this.order.awaitsDone) this.order.done(seat);
    } finally {
      try {
        this.#look();
      } finally { // even if the clock throws
        ticket = this.#enter(seat, key, item, priority, true);
      }
    }
    return ticket;
  }

  next(): unknown {
    const seats = this.#seats;
    const seat = this.#refused.size > 0 ? this.#shiftRefused() : this.#use.pop(this);
    if (seat === NONE) throw noReadyItem();
    this.#processing.append(seats, seat);
    this.#recent = seat;
    this.drawn = seats.ticketOf(seat);
    this.priority = seats.priorityOf(seat);
    seats.setTicket(seat, ++this.called);
    return seats.keyOf(seat);
  }

  addAgain(key: unknown, ticket: number, priority: number): void {
    const seats = this.#seats;
    const seat = this.#seatOf(key);
    seats.setTime(seat, ticket < 0 ? Math.max(seats.timeOf(seat), priority) : priority);
    seats.setTicket(seat, -Math.abs(ticket));
  }

  unmark(key: unknown): number {
    const seat = this.#seatOf(key);
    this.#seats.setTicket(seat, -this.#seats.ticketOf(seat));
    return this.#seats.timeOf(seat);
  }

  touch(key: unknown, item: T, priority: number): void {
    const seats = this.#seats;
    const seat = this.#seatOf(key);
    const before = seats.priorityOf(seat);
    if (priority > before) seats.setPriority(seat, priority);
    try {
      if (!this.#refused.has(seat)) this.order.touch(seat, before, item);
    } catch (error) {
      seats.setPriority(seat, before);
      throw error;
    }
    this.#setItem(seat, key, item);
  }

  leave(key: unknown): void {
    const seat = this.#seatOf(key);
    this.#processing.remove(this.#seats, seat);
    this.#free(seat);
    if (this.order.awaitsDone) this.order.done(seat);
  }

  /**
   * Lists refused keys first, then the keys that the order predicts. Other ready keys follow in no particular order.
   * Some of these keys may be blocked: only the order knows which.
   */
  listReady(limit: number): ListedKey[] {
    const count = Math.min(limit, this.length);
    const ready = new Set([...this.#refused].slice(0, count));
    for (const seat of this.order.peek(count - ready.size)) ready.add(seat);
    for (let seat = 0; seat < this.#seats.span && ready.size < count; seat++) {
      if (this.#seats.ticketOf(seat) > this.called) ready.add(seat);
    }
    return this.#listed([...ready]);
  }

  listProcessing(limit: number): ListedKey[] {
    return this.#listed(this.#processing.list(this.#seats, limit));
  }

  entryOf(seat: number): ReadyEntry<unknown> {
    const key = this.#seats.keyOf(seat);
    return {
      key,
      item: this.#items !== undefined && seat in this.#items ? this.#items[seat] : key,
      priority: this.#seats.priorityOf(seat),
      readyAt: this.#clock === undefined ? this.latest : this.#seats.timeOf(seat),
    };
  }

  #listed(seats: number[]): ListedKey[] {
    return seats.map((seat) => ({ key: this.#seats.keyOf(seat), priority: this.#seats.priorityOf(seat) }));
  }

  get #ready(): number {
    return this.#use.length + this.#refused.size;
  }

  /** Returns the seat of a key in the line. */
  #seatOf(key: unknown): number {
    const recent = this.#recent;
    return recent !== NONE && this.#seats.keyOf(recent) === key ? recent : this.#seats.seatOf(key);
  }

  /** Reads the clock if the order depends on times. The clock may be set back; `latest` never is. */
  #look(): void {
    if (this.#clock === undefined) return;
    const time = this.readyAt ?? this.#now(this.#clock);
    if (time > this.latest) this.latest = time;
  }

  /**
   * Returns the time. The system clock is read once per millisecond of the wall clock, because reading the wall clock
   * takes half as long on Deno.
   */
  #now(clock: Clock): number {
    const before = this.#lookedAt;
    const isUpToDate = isRealTime(clock) && before === (this.#lookedAt = wallClock());
    return isUpToDate ? this.latest : clock.now();
  }

  /** Gives a seat a new ticket. */
  #draw(seat: number, priority: number): number {
    const ticket = ++this.#last;
    this.#seats.setTicket(seat, ticket);
    this.#seats.setPriority(seat, priority);
    this.#seats.setTime(seat, this.readyAt ?? this.latest);
    return ticket;
  }

  /** Gives a seat a new ticket, and passes the seat to the order. A key that the order refuses is kept or removed. */
  #enter(seat: number, key: unknown, item: T, priority: number, isKept: boolean): number {
    const ticket = this.#draw(seat, priority);
    this.#setItem(seat, key, item);
    try {
      this.#use.begin(this);
      this.order.push(seat, item, key);
    } catch (error) {
      if (this.#seats.ticketOf(seat) === ticket) { // unless the key was handed out before the error
        if (isKept) this.#refused.add(seat);
        else this.#free(seat);
      }
      throw error;
    }
    return ticket;
  }

  #free(seat: number): void {
    this.#recent = NONE;
    this.#seats.free(seat);
    if (this.#items === undefined) return;
    if (this.#seats.span === 0) this.#items = undefined; // the table was large, and has freed its memory
    else this.#items[seat] = undefined; // lets the item be garbage collected
  }

  #setItem(seat: number, key: unknown, item: unknown): void {
    if (item !== key) this.#items ??= [];
    if (this.#items !== undefined) this.#items[seat] = item;
  }

  #shiftRefused(): number {
    const [first] = this.#refused;
    this.#refused.delete(first!);
    return first!;
  }
}
