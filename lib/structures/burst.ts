import { Waiters } from "./waiters.ts";

/** Longest burst without a pause, in milliseconds. */
export const MAX_BURST = 10;

/** Largest number of pieces of work between two reads of the clock. A read takes as long as a small piece. */
const MAX_PIECES_PER_LOOK = 8;

/** The runtime's own global, saved when this module is loaded. Fake timers installed later don't replace it. */
const { setImmediate } = globalThis as { setImmediate?: (callback: () => void) => unknown };
/**
 * Returns the time in milliseconds. `Date.now` is precise enough, and takes half as long as `performance.now` on Deno.
 * If someone sets the wall clock, one pause comes early.
 */
export const wallClock: () => number = Date.now;

/**
 * Number of event loop turns in a pause. Timers fire in each turn. Deno polls the network in only one of 61 turns, as
 * long as another turn is always scheduled. On every runtime, accepting a connection and reading from it takes several
 * turns.
 */
export const TURNS_PER_PAUSE: number = setImmediate === undefined ? 1 : 64;

/** Longest pause, as a fraction of the burst before it. Turns take longer when other code is busy. */
const MAX_PAUSE = 0.05;

/**
 * Run of work that awaits nothing but promises.
 *
 * Promises run before timers and I/O, so each further piece of work would keep these from running. A burst lasts until
 * timers and I/O have had a turn. If it exceeds ten milliseconds, workers must pause.
 */
export class Burst {
  readonly #now: () => number;
  /** Workers that continue after the pause. */
  readonly #line = new Waiters<void>();
  #isOn = false;
  /** Number of bursts so far. */
  #count = 0;
  #isTooLong = false;
  #beganAt = 0;
  #pieces = 0;
  /** Number of pieces after which to read the clock. */
  #lookAfter = 1;
  /** Turns that the pause has taken, and its latest end. */
  #turns = 0;
  #pauseEndsAt = 0;

  constructor(now: () => number = wallClock) {
    this.#now = now;
  }

  /** Number of the current burst, from 1; 0 between bursts. No burst lasts much longer than ten milliseconds. */
  get number(): number {
    return this.#isOn ? this.#count : 0;
  }

  /**
   * Counts a piece of work that is about to begin, and reports whether the burst is too long. If so, the caller must
   * await {@linkcode Burst.turn} first.
   */
  isTooLong(): boolean {
    if (!this.#isOn) this.#begin();
    else if (++this.#pieces === this.#lookAfter) this.#look();
    return this.#isTooLong;
  }

  /**
   * Resolves after the pause, in the order of the calls. The caller may then do one piece of work without asking, so
   * faster callers can't starve it.
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
   * Reads the clock, and decides after how many pieces to read it again. At the average speed so far, those pieces fit
   * in the remaining time.
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

  /** Counts a turn of a pause, and reports whether the pause is over. */
  #isPauseOver(): boolean {
    const now = this.#now();
    if (this.#turns === 0) this.#pauseEndsAt = now + (now - this.#beganAt) * MAX_PAUSE;
    return ++this.#turns >= TURNS_PER_PAUSE || now >= this.#pauseEndsAt;
  }

  /**
   * Lets workers in the line continue, one at a time. Workers left over when this burst is too long come first in the
   * next one.
   */
  async #serveLine(): Promise<void> {
    this.#begin();
    while (!this.#line.isEmpty && !this.#isTooLong) {
      this.#line.shift().resolve();
      await undefined; // while the worker runs, up to its first real wait
      this.#pieces++;
      this.#look();
    }
  }
}

/** The burst shared by all workers in this program: several pools together pause as often as one. */
export const burst: Burst = /* @__PURE__ */ new Burst();

/** Calls `callback` in its own task, after the timers that are due now. */
export function nextTask(callback: () => void): void {
  if (setImmediate !== undefined) {
    setImmediate(callback);
    return;
  }
  // A message is the fastest task in browsers. A timer may take four milliseconds.
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    callback();
  };
  port2.postMessage(undefined);
}
