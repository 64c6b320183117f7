import { isSameKey } from "../base/keys.ts";
import { divided, type LargeMap, MAX_KEYS, noRoom, swept } from "../base/parted_map.ts";

/** Number that stands for no seat and no slot. */
export const NONE = -1;

const MIN_CAPACITY = 16;

/** Numbers per seat: its ticket, its priority, its time, and one that holds both links. */
const NUMBERS = 4;
const PRIORITY = 1;
const TIME = 2;

/** Links per seat, two for each number, in the same memory. The last two are in use. */
const LINKS = 8;
const NEXT = 6;
const PREVIOUS = 7;

/** Value in the place of a free seat's key. */
const FREE = Symbol();

/** A map with at most this many entries deletes the entry of a removed key at once, so none of them is outdated. */
const SMALL = 32;

/** Maximum ratio of outdated entries to keys. */
const MAX_OUTDATED = 4;

/**
 * Table of keys. Each key has a seat, which is a small integer, for as long as the key is in the table.
 *
 * All numbers of a seat are stored side by side in one buffer, so reading several of them loads one cache line. The
 * table gives the ticket, the priority, the time and the two links no meaning, except that the ticket of a free seat is
 * 0.
 *
 * Removing a key doesn't look the key up: its entry in the map becomes outdated. An entry is current if its seat has
 * its key. When there are too many outdated entries, a sweep removes them.
 */
export class Seats {
  /** Number of keys. */
  size = 0;
  #map: LargeMap<unknown, number> = new Map();
  #keys: unknown[] = [];
  #numbers = new Float64Array(NUMBERS * MIN_CAPACITY);
  #links = new Int32Array(this.#numbers.buffer);
  /** First of the free seats, which are linked. */
  #free = NONE;

  /** Number of seats, including free ones. */
  get span(): number {
    return this.#keys.length;
  }

  /** Returns the seat of a key; {@linkcode NONE} if the key has none. */
  seatOf(key: unknown): number {
    const seat = this.#map.get(key);
    return seat !== undefined && this.#has(seat, key) ? seat : NONE;
  }

  /** Gives a key a seat. The key must have none. */
  take(key: unknown): number {
    const free = this.#free;
    const seat = free === NONE ? this.#keys.length : free;
    this.#setSeat(key, seat);
    if (free !== NONE) this.#free = this.nextOf(free);
    else if (seat * NUMBERS === this.#numbers.length) this.#resize(2 * seat);
    this.#keys[seat] = key;
    this.size++;
    return seat;
  }

  /** Frees the seat of a key. */
  free(seat: number): void {
    const key = this.#keys[seat];
    this.#keys[seat] = FREE;
    this.setTicket(seat, 0);
    this.size--;
    if (this.#map.size <= SMALL) this.#map.delete(key);
    if (this.size === 0 && this.#keys.length > SMALL) return this.#clear();
    this.setNext(seat, this.#free);
    this.#free = seat;
    if (this.#map.size > (MAX_OUTDATED + 1) * this.size) this.#sweep();
  }

  keyOf(seat: number): unknown {
    return this.#keys[seat];
  }

  ticketOf(seat: number): number {
    return this.#numbers[seat * NUMBERS]!;
  }

  setTicket(seat: number, ticket: number): void {
    this.#numbers[seat * NUMBERS] = ticket;
  }

  priorityOf(seat: number): number {
    return this.#numbers[seat * NUMBERS + PRIORITY]!;
  }

  setPriority(seat: number, priority: number): void {
    this.#numbers[seat * NUMBERS + PRIORITY] = priority;
  }

  timeOf(seat: number): number {
    return this.#numbers[seat * NUMBERS + TIME]!;
  }

  setTime(seat: number, time: number): void {
    this.#numbers[seat * NUMBERS + TIME] = time;
  }

  nextOf(seat: number): number {
    return this.#links[seat * LINKS + NEXT]!;
  }

  setNext(seat: number, next: number): void {
    this.#links[seat * LINKS + NEXT] = next;
  }

  previousOf(seat: number): number {
    return this.#links[seat * LINKS + PREVIOUS]!;
  }

  setPrevious(seat: number, previous: number): void {
    this.#links[seat * LINKS + PREVIOUS] = previous;
  }

  #has(seat: number, key: unknown): boolean {
    return isSameKey(this.#keys[seat], key);
  }

  #setSeat(key: unknown, seat: number): void {
    if (this.#map.size === MAX_KEYS) this.#map = divided(this.#map);
    try {
      this.#map.set(key, seat);
    } catch (cause) {
      if (this.#map.size === this.size) throw noRoom(this.size, cause);
      while (this.#map.size > this.size) this.#sweep();
      this.#setSeat(key, seat);
    }
  }

  /** Removes the outdated entries. If there are many entries, removes the outdated ones of one part. */
  #sweep(): void {
    this.#map = swept(this.#map, (seat, key) => this.#has(seat, key));
  }

  /** Frees the memory of a table that was large. Must be called only while no key has a seat. */
  #clear(): void {
    this.#map = new Map();
    this.#keys = [];
    this.#free = NONE;
    this.#resize(MIN_CAPACITY);
  }

  #resize(capacity: number): void {
    const numbers = new Float64Array(NUMBERS * capacity);
    numbers.set(this.#numbers.subarray(0, numbers.length));
    this.#numbers = numbers;
    this.#links = new Int32Array(numbers.buffer);
  }
}

/** Doubly linked list of seats. A seat is in at most one list. */
export class SeatList {
  first = NONE;
  last = NONE;
  length = 0;

  append(seats: Seats, seat: number): void {
    const { last } = this;
    seats.setPrevious(seat, last);
    seats.setNext(seat, NONE);
    if (last === NONE) this.first = seat;
    else seats.setNext(last, seat);
    this.last = seat;
    this.length++;
  }

  remove(seats: Seats, seat: number): void {
    const previous = seats.previousOf(seat);
    const next = seats.nextOf(seat);
    if (previous === NONE) this.first = next;
    else seats.setNext(previous, next);
    if (next === NONE) this.last = previous;
    else seats.setPrevious(next, previous);
    this.length--;
  }

  list(seats: Seats, limit: number): number[] {
    const listed: number[] = [];
    for (let seat = this.first; seat !== NONE && listed.length < limit; seat = seats.nextOf(seat)) listed.push(seat);
    return listed;
  }
}
