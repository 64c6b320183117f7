import { NumberHeap } from "../lib/structures/number_heap.ts";

/** Takers with the same start, first in, first out. */
class Round<T> {
  /** Slot of the round in the heap. */
  slot = -1;
  first: T | undefined;
  last: T | undefined;
}

/** Object that takes turns. `Turns` sets its fields. */
export abstract class Taker<T> {
  /** Start of the next turn. */
  start = 0;
  /** Round of the next turn; `undefined` if no turn follows. */
  round: Round<T> | undefined = undefined;
  previous: T | undefined = undefined;
  next: T | undefined = undefined;
}

/**
 * Turns, ordered by their start. On a tie, the turn that was set first goes first.
 *
 * Takers with the same weight often have the same start. They share a round, and only rounds are in a heap. Turns are
 * added to the newest round only, so the order of rounds with the same start is right as well.
 */
export class Turns<T extends Taker<T>> {
  /** Number of takers with a turn. */
  length = 0;
  readonly #rounds = new NumberHeap<Round<T>>();
  #newest: Round<T> | undefined;
  #newestStart = 0;

  /** Taker of the next turn; `undefined` if there is none. */
  get top(): T | undefined {
    return this.#rounds.top?.first;
  }

  /** Sets the next turn of a taker. A taker that already has a turn must not get an earlier one. */
  set(taker: T, start: number): void {
    taker.start = start;
    const { round } = taker;
    const isNewest = this.#newest !== undefined && this.#newestStart === start;
    if (round !== undefined && !isNewest && round.first === round.last) {
      this.#rounds.increase(round.slot, start);
      this.#setNewest(round, start);
      return;
    }
    if (round !== undefined) this.remove(taker);
    this.#append(taker, isNewest && this.#newest || this.#begin(start)); // removing the turn may have ended the round
  }

  /** Removes the turn of a taker, which must have one. */
  remove(taker: T): void {
    const { previous, next } = taker;
    const round = taker.round!;
    if (previous === undefined) round.first = next;
    else previous.next = next;
    if (next === undefined) round.last = previous;
    else next.previous = previous;
    taker.round = taker.previous = taker.next = undefined;
    this.length--;
    if (round.first !== undefined) return;
    this.#rounds.remove(round.slot);
    if (round === this.#newest) this.#newest = undefined;
  }

  /** Returns the takers of at most `limit` turns, in order. */
  first(limit: number): T[] {
    const takers: T[] = [];
    for (const round of this.#rounds.first(limit)) {
      for (let taker = round.first; taker !== undefined && takers.length < limit; taker = taker.next) {
        takers.push(taker);
      }
    }
    return takers;
  }

  #begin(start: number): Round<T> {
    const round = new Round<T>();
    round.slot = this.#rounds.push(round, start);
    this.#setNewest(round, start);
    return round;
  }

  #setNewest(round: Round<T>, start: number): void {
    this.#newest = round;
    this.#newestStart = start;
  }

  #append(taker: T, round: Round<T>): void {
    this.length++;
    const { last } = round;
    taker.round = round;
    taker.previous = last;
    if (last === undefined) round.first = taker;
    else last.next = taker;
    round.last = taker;
  }
}
