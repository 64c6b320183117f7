import type { SeatOrder } from "../lib/queue/seat_order.ts";
import { NONE, SeatList, type Seats } from "../lib/structures/seats.ts";

/** First in, first out: the default order within a group. */
export class FifoOrder implements SeatOrder {
  readonly blocked = 0;
  readonly usesTime = false;
  readonly awaitsDone = false;
  readonly #seats: Seats;
  readonly #list = new SeatList();

  constructor(seats: Seats) {
    this.#seats = seats;
  }

  get length(): number {
    return this.#list.length;
  }

  push(seat: number): void {
    this.#list.append(this.#seats, seat);
  }

  pop(): number {
    const { first } = this.#list;
    if (first !== NONE) this.#list.remove(this.#seats, first);
    return first;
  }

  touch(): void {}

  done(): void {}

  peek(limit: number): number[] {
    return this.#list.list(this.#seats, limit);
  }
}
