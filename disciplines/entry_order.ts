import type { Clock } from "../lib/base/clock.ts";
import type { QueueDiscipline, ReadyEntry } from "../lib/contracts/discipline.ts";
import type { SeatOrder } from "../lib/queue/seat_order.ts";
import { NONE, type Seats } from "../lib/structures/seats.ts";

/** Entry of a key that has only a seat. */
class SeatEntry implements ReadyEntry<unknown> {
  readonly key: unknown;
  readonly readyAt: number;
  item: unknown;
  priority: number;

  constructor(key: unknown, item: unknown, priority: number, readyAt: number) {
    this.key = key;
    this.item = item;
    this.priority = priority;
    this.readyAt = readyAt;
  }
}

/** Order of a discipline that works on entries. */
export class EntryOrder implements SeatOrder {
  readonly usesTime = true;
  readonly awaitsDone: boolean;
  readonly #discipline: QueueDiscipline<unknown>;
  readonly #seats: Seats;
  readonly #clock: Clock;
  /** Seats of ready entries. */
  readonly #ready = new Map<ReadyEntry<unknown>, number>();
  /** Entries of all seats, ready or not done. */
  readonly #entries = new Map<number, ReadyEntry<unknown>>();

  /** Times at which the seats were popped, if `done` must be called for them. */
  readonly #poppedAt = new Map<number, number>();

  constructor(discipline: QueueDiscipline<unknown>, seats: Seats, clock: Clock) {
    this.#discipline = discipline;
    this.#seats = seats;
    this.#clock = clock;
    this.awaitsDone = discipline.done !== undefined;
  }

  get length(): number {
    return this.#discipline.length;
  }

  get blocked(): number {
    return this.#discipline.blocked ?? 0;
  }

  get nextChangeAt(): number {
    return this.#discipline.nextChangeAt ?? Infinity;
  }

  push(seat: number, item: unknown, key: unknown, given?: ReadyEntry<unknown>): void {
    const seats = this.#seats;
    const entry = given ?? new SeatEntry(key, item, seats.priorityOf(seat), seats.timeOf(seat));
    this.#ready.set(entry, seat);
    this.#entries.set(seat, entry);
    try {
      this.#discipline.push(entry);
    } catch (error) {
      if (this.#ready.delete(entry)) this.#entries.delete(seat); // unless the entry was handed out before the error
      throw error;
    }
  }

  pop(): number {
    const now = this.awaitsDone ? this.#clock.now() : 0; // first, because the clock may throw
    const entry = this.#discipline.pop()!;
    const seat = this.#ready.get(entry);
    if (seat === undefined) return NONE;
    this.#ready.delete(entry);
    if (this.awaitsDone) this.#poppedAt.set(seat, now);
    else this.#entries.delete(seat);
    return seat;
  }

  touch(seat: number, before: number, item: unknown): void {
    const entry = this.#entries.get(seat);
    if (entry === undefined) return;
    if (!(entry instanceof SeatEntry)) return this.#discipline.touch(entry);
    const itemBefore = entry.item;
    entry.item = item;
    entry.priority = this.#seats.priorityOf(seat);
    try {
      this.#discipline.touch(entry);
    } catch (error) {
      entry.item = itemBefore;
      entry.priority = before;
      throw error;
    }
  }

  done(seat: number, durationMs?: number): void {
    const entry = this.#entries.get(seat);
    if (entry === undefined) return;
    const poppedAt = this.#poppedAt.get(seat)!;
    this.#entries.delete(seat);
    this.#poppedAt.delete(seat);
    let ms = durationMs ?? 0; // in case the clock throws
    try {
      ms = durationMs ?? this.#clock.now() - poppedAt;
    } finally {
      this.#discipline.done?.(entry, { durationMs: ms });
    }
  }

  peek(limit: number): number[] {
    const entries = this.#discipline.peek?.(limit) ?? [];
    return entries.map((entry) => this.#ready.get(entry)).filter((seat) => seat !== undefined);
  }
}
