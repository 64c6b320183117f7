import { Waiters } from "./waiters.ts";

/** After how long it is time for a pause, in milliseconds. */
export const MAX_BURST = 10;

/** How many pieces of work go by without a look at the clock, at most: a look takes as long as a small piece. */
const MAX_PIECES_PER_LOOK = 8;

/** As they were when this module was loaded: fake timers that came later leave them alone. */
const { setImmediate } = globalThis as { setImmediate?: (callback: () => void) => unknown };
/** Milliseconds are exact enough, and Deno's other clock takes twice as long. When it is set, one pause comes early. */
export const wallClock: () => number = Date.now;

/**
 * How many turns of the event loop a pause takes. Timers fire in each of them. But Deno looks for what came in from the
 * network in one of 61 turns only, for as long as there is always a next turn to make; and to accept a connection and
 * to read from it takes several turns everywhere.
 */
export const TURNS_PER_PAUSE: number = setImmediate === undefined ? 1 : 64;

/** How long a pause may take, as a part of the burst before it: turns in which much is done for others take longer. */
const MAX_PAUSE = 0.05;

/**
 * Work that goes on without waiting for anything but promises.
 *
 * Promises go before timers and I/O, so these would have no turn for as long as there is one more piece of work. A
 * burst lasts until they had a turn. If that does not happen within ten milliseconds, whoever works has to make a
 * pause.
 */
export class Burst {
  readonly #now: () => number;
  /** Those who go on when the pause is over. */
  readonly #line = new Waiters<void>();
  #isOn = false;
  /** How many there were. */
  #count = 0;
  #isTooLong = false;
  #beganAt = 0;
  #pieces = 0;
  /** After how many pieces to look at the clock. */
  #lookAfter = 1;
  /** How many turns the pause has taken, and when it ends at the latest. */
  #turns = 0;
  #pauseEndsAt = 0;

  constructor(now: () => number = wallClock) {
    this.#now = now;
  }

  /** The number of the burst that is on, from 1; 0 if none is. No burst lasts much longer than ten milliseconds. */
  get number(): number {
    return this.#isOn ? this.#count : 0;
  }

  /**
   * To be asked before each piece of work. If the burst is too long, {@linkcode Burst.turn} has to be awaited before
   * it.
   */
  isTooLong(): boolean {
    if (!this.#isOn) this.#begin();
    else if (++this.#pieces === this.#lookAfter) this.#look();
    return this.#isTooLong;
  }

  /**
   * Resolves after the pause, in the order of the calls. The caller may do one piece of work before it asks again, so
   * nobody is kept from work by others who are quicker to ask.
   */
  turn(): Promise<void> {
    return this.#line.wait();
  }

  #begin(): void {
    this.#isOn = true;
    this.#count++;
    this.#isTooLong = false;
    this.#beganAt = this.#now();
    this.#pieces = 0;
    this.#lookAfter = 1;
    this.#turns = 0;
    nextTask(this.#onTurn);
  }

  /**
   * Looks at the clock, and says when to look again: no later than pieces like those before fill the time that is left.
   */
  #look(): void {
    const pieces = this.#pieces;
    const passed = this.#now() - this.#beganAt;
    this.#isTooLong = passed >= MAX_BURST || passed < 0;
    let more = Math.min(pieces, MAX_PIECES_PER_LOOK);
    while (more > 1 && passed * (pieces + more) > MAX_BURST * pieces) more--;
    this.#lookAfter = pieces + more;
  }

  readonly #onTurn = (): void => {
    if (this.#isTooLong && !this.#isPauseOver()) {
      nextTask(this.#onTurn);
      return;
    }
    this.#isOn = false;
    if (!this.#line.isEmpty) this.#serveLine();
  };

  /** To be asked in each turn of a pause. */
  #isPauseOver(): boolean {
    const now = this.#now();
    if (this.#turns === 0) this.#pauseEndsAt = now + (now - this.#beganAt) * MAX_PAUSE;
    return ++this.#turns >= TURNS_PER_PAUSE || now >= this.#pauseEndsAt;
  }

  /**
   * Lets those who wait go on, one after the other. Those who are left when this burst is too long go first in the
   * next.
   */
  async #serveLine(): Promise<void> {
    this.#begin();
    while (!this.#line.isEmpty && !this.#isTooLong) {
      this.#line.shift().resolve();
      await undefined; // while the piece of work is done, or as much of it as does not wait
      this.#pieces++;
      this.#look();
    }
  }
}

/** The burst of all who work in this program: several pools together take no longer until a pause than one. */
export const burst: Burst = /* @__PURE__ */ new Burst();

/** Calls back in a task of its own: after the timers that are due now have had their turn. */
export function nextTask(callback: () => void): void {
  if (setImmediate !== undefined) {
    setImmediate(callback);
    return;
  }
  // In browsers a message is as quick as it gets, where a timer may wait for four milliseconds.
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    callback();
  };
  port2.postMessage(undefined);
}
