import { argumentError } from "../base/errors.ts";
import type { ReadyEntry } from "../contracts/discipline.ts";
import { NONE } from "../structures/seats.ts";
import type { LineGroups } from "./line.ts";

/**
 * Order of the ready keys in a table of seats: a discipline that works on seats instead of entries.
 *
 * An order may use the links of a seat from `push` to `pop`.
 */
export interface SeatOrder {
  /** Number of seats that `pop` can return now. */
  readonly length: number;
  /** Number of seats that are blocked, until `done` is called for another seat or until a time. */
  readonly blocked: number;
  /** Next time at which blocked seats become ready; absent if seats are never blocked until a time. */
  readonly nextChangeAt?: number;
  /** Groups of the seats; absent if they have none. */
  readonly groups?: LineGroups;
  /** Whether the order reads the times at which the keys became ready. */
  readonly usesTime: boolean;
  /** Whether `done` must be called for each popped seat. May become true during `pop`, for the popped seat too. */
  readonly awaitsDone: boolean;

  /**
   * Adds the seat of a key that became ready.
   *
   * @param entry The entry of the key, if there is one.
   */
  push(seat: number, item: unknown, key: unknown, entry?: ReadyEntry<unknown>): void;

  /** Removes the next seat and returns it; {@linkcode NONE} if there is none. */
  pop(): number;

  /**
   * Called when a ready key was added again. Its seat already has the new priority.
   *
   * @param before The earlier priority.
   */
  touch(seat: number, before: number, item: unknown): void;

  /**
   * Called when a popped seat is done or free. Does nothing for a seat that was not pushed.
   *
   * @param durationMs Time since the seat was popped, if the caller knows it.
   */
  done(seat: number, durationMs?: number): void;

  /** Returns at most `limit` of the seats that will be popped next, in order as far as the order is known. */
  peek(limit: number): number[];
}

/** User of a discipline, with an order of its own. */
export interface OrderUser {
  readonly order: SeatOrder;
  /** Returns the entry of a seat in the order. */
  entryOf(seat: number): ReadyEntry<unknown>;
}

/** Use of a discipline. Several queues may have the discipline, but only one of them may have keys in its order. */
export class DisciplineUse {
  /** User whose order has the keys. */
  #current: OrderUser | undefined;

  get length(): number {
    return this.#current === undefined ? 0 : this.#current.order.length;
  }

  get blocked(): number {
    return this.#current === undefined ? 0 : this.#current.order.blocked;
  }

  /** Makes a user the current one. Throws an error if another user has keys in its order. */
  begin(user: OrderUser): void {
    if (this.#current === user) return;
    if (this.length + this.blocked > 0) {
      throw argumentError("add item", "another queue uses the discipline: each queue needs its own", Error);
    }
    this.#current = user;
  }

  /** Removes the next seat of a user's order and returns it; {@linkcode NONE} if another user is the current one. */
  pop(user: OrderUser): number {
    return this.#current === user ? user.order.pop() : NONE;
  }

  /** Returns entries of the next keys. */
  peek(limit: number): ReadyEntry<unknown>[] {
    const current = this.#current;
    return current === undefined ? [] : current.order.peek(limit).map((seat) => current.entryOf(seat));
  }
}
