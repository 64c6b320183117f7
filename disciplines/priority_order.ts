import type { SeatOrder } from "../lib/queue/seat_order.ts";
import { NumberHeap } from "../lib/structures/number_heap.ts";
import { NONE, SeatList, type Seats } from "../lib/structures/seats.ts";

/** Maximum number of priorities that have a lane. */
const MAX_LANES = 1024;

/** Link of a seat that is in no lane. */
const LOOSE = -2;

/** Seats of one priority, first in, first out. */
class Lane {
  readonly list = new SeatList();
  readonly priority: number;
  /** Head start of the priority. */
  readonly headStart: number;
  /** Slot of the lane in the heap of lanes. */
  slot = NONE;
  /** Whether the lane is in the list of lanes that may be empty. */
  isListed = false;

  constructor(priority: number, headStart: number) {
    this.priority = priority;
    this.headStart = headStart;
  }
}

/**
 * Order by priority. Each seat has a number, and the seat with the smallest number is next. On a tie, the seat with the
 * smaller turn is next. Neither depends on the current time, so the order never becomes outdated.
 *
 * Within a priority, numbers and turns ascend from push to push. So each priority has a lane, and only the first seat
 * of each lane is in a heap. Seats for which this is not true are loose, in a heap of their own: raised seats, seats
 * that became ready before the last seat of their lane, and seats beyond the maximum number of lanes.
 */
export class PriorityOrder implements SeatOrder {
  length = 0;
  readonly blocked = 0;
  readonly awaitsDone = false;
  readonly usesTime: boolean;
  readonly #seats: Seats;
  readonly #min: number;
  readonly #max: number;
  /** Head start of one point of priority, in milliseconds; `Infinity` for strict priorities. */
  readonly #headStart: number;
  readonly #lanes = new Map<number, Lane>();
  /** Lane of the latest push. */
  #latest: Lane | undefined;
  /** Lanes that may be empty, whose place another priority may take. */
  readonly #empty: Lane[] = [];
  /** Lanes with a seat, by their first seat. */
  readonly #heads = new NumberHeap<Lane>();
  readonly #loose = new NumberHeap<number>();
  /** Number of times that a seat received a strict priority. */
  #given = 0;

  constructor(seats: Seats, min: number, max: number, headStart: number) {
    this.#seats = seats;
    this.#min = min;
    this.#max = max;
    this.#headStart = headStart;
    this.usesTime = headStart < Infinity;
  }

  push(seat: number): void {
    this.length++;
    this.#place(seat, this.#clamp(this.#seats.priorityOf(seat)));
  }

  pop(): number {
    if (this.length === 0) return NONE;
    this.length--;
    const heads = this.#heads;
    const loose = this.#loose;
    const isLoose = loose.length > 0 && (loose.smallest < heads.smallest ||
      loose.smallest === heads.smallest && loose.smallestOrder < heads.smallestOrder);
    if (isLoose) return loose.pop()!;
    const lane = heads.top!;
    const seat = lane.list.first;
    this.#takeFrom(lane, seat);
    return seat;
  }

  touch(seat: number, before: number): void {
    const seats = this.#seats;
    const from = this.#clamp(before);
    const priority = this.#clamp(seats.priorityOf(seat));
    if (priority <= from) return;
    const isLoose = seats.nextOf(seat) === LOOSE;
    if (isLoose) this.#loose.remove(seats.previousOf(seat));
    else this.#takeFrom(this.#lanes.get(from)!, seat);
    if (this.usesTime) this.#setLoose(seat, priority, this.#headStartOf(priority));
    else this.#place(seat, priority);
  }

  done(): void {}

  peek(limit: number): number[] {
    const found: number[] = [];
    const candidates = new NumberHeap<{ seat: number; lane: Lane | undefined }>();
    const add = (seat: number, lane?: Lane) => {
      if (seat === NONE) return;
      const priority = lane?.priority ?? this.#clamp(this.#seats.priorityOf(seat));
      candidates.push({ seat, lane }, this.#numberOf(seat, priority, this.#headStartOf(priority)), this.#turnOf(seat));
    };
    for (const lane of this.#heads.first(limit)) add(lane.list.first, lane);
    for (const seat of this.#loose.first(limit)) add(seat);
    while (found.length < limit && candidates.length > 0) {
      const { seat, lane } = candidates.pop()!;
      found.push(seat);
      if (lane !== undefined) add(this.#seats.nextOf(seat), lane);
    }
    return found;
  }

  #clamp(priority: number): number {
    return priority > this.#max ? this.#max : priority > this.#min ? priority : this.#min;
  }

  #headStartOf(priority: number): number {
    return (priority - this.#min) * this.#headStart; // relative to `min`, to keep numbers small
  }

  #numberOf(seat: number, priority: number, headStart: number): number {
    return this.usesTime ? this.#seats.timeOf(seat) - headStart : -priority;
  }

  #turnOf(seat: number): number {
    return this.usesTime ? this.#seats.ticketOf(seat) : this.#seats.timeOf(seat);
  }

  /** Puts a seat at the end of a lane, or among the loose seats. */
  #place(seat: number, priority: number): void {
    const seats = this.#seats;
    if (!this.usesTime) seats.setTime(seat, ++this.#given);
    const lane = this.#latest?.priority === priority ? this.#latest : this.#laneOf(priority);
    if (lane === undefined) return this.#setLoose(seat, priority, this.#headStartOf(priority));
    const { last } = lane.list;
    if (last === NONE) {
      lane.list.append(seats, seat);
      lane.slot = this.#heads.push(lane, this.#numberOf(seat, priority, lane.headStart), this.#turnOf(seat));
    } else if (seats.timeOf(seat) < seats.timeOf(last)) this.#setLoose(seat, priority, lane.headStart);
    else lane.list.append(seats, seat);
  }

  #setLoose(seat: number, priority: number, headStart: number): void {
    this.#seats.setNext(seat, LOOSE);
    const slot = this.#loose.push(seat, this.#numberOf(seat, priority, headStart), this.#turnOf(seat));
    this.#seats.setPrevious(seat, slot);
  }

  #takeFrom(lane: Lane, seat: number): void {
    const isFirst = lane.list.first === seat;
    lane.list.remove(this.#seats, seat);
    if (!isFirst) return;
    const { first } = lane.list;
    if (first !== NONE) {
      this.#heads.increase(lane.slot, this.#numberOf(first, lane.priority, lane.headStart), this.#turnOf(first));
      return;
    }
    this.#heads.remove(lane.slot);
    if (lane.isListed) return;
    lane.isListed = true;
    this.#empty.push(lane);
  }

  /** Returns the lane of a priority; `undefined` if there is none and each lane has a seat. */
  #laneOf(priority: number): Lane | undefined {
    let lane = this.#lanes.get(priority);
    if (lane === undefined) {
      if (this.#lanes.size === MAX_LANES && !this.#dropEmptyLane()) return undefined;
      lane = new Lane(priority, this.usesTime ? this.#headStartOf(priority) : 0);
      this.#lanes.set(priority, lane);
    }
    return this.#latest = lane;
  }

  #dropEmptyLane(): boolean {
    for (let lane = this.#empty.pop(); lane !== undefined; lane = this.#empty.pop()) {
      lane.isListed = false;
      if (lane.list.length > 0) continue;
      this.#lanes.delete(lane.priority);
      return true;
    }
    return false;
  }
}
