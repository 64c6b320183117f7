import { type Clock, isRealTime, wallClock } from "../base/clock.ts";
import { Waiters } from "./waiters.ts";

/** Longest burst without a pause, in milliseconds. */
export const MAX_BURST = 10;

/**
 * Largest number of pieces of work between two reads of the clock. Reading the clock takes as long as a small piece of
 * work.
 */
const MAX_PIECES_PER_LOOK = 8;

/**
 * The runtime's own global, saved when this module is loaded. Fake timers that are installed later don't replace the
 * saved global.
 */
const { setImmediate } = globalThis as { setImmediate?: (callback: () => void) => unknown };

/**
 * Largest number of event loop turns in a pause. Timers fire in each turn. Deno polls the network only every 61st turn
 * if the next turn is always already scheduled. On every runtime, accepting a connection and reading from it takes
 * several turns.
 */
export const TURNS_PER_PAUSE: number = setImmediate === undefined ? 1 : 64;

/**
 * Longest pause, as a fraction of the length of the preceding burst. Without this limit, a pause would be long when
 * other code makes each turn slow.
 */
const MAX_PAUSE = 0.05;

/**
 * Period in which timers and I/O cannot run, because workers await only promises.
 *
 * The runtime runs promise callbacks before timers and I/O, so each further piece of work delays timers and I/O. A
 * burst ends when timers and I/O have had a turn. If a burst lasts longer than ten milliseconds, workers must pause.
 */
export class Burst {
  readonly #now: () => number;
  /** Workers that are waiting for the end of the pause. */
  readonly #line = new Waiters<void>();
  /** Number of the current burst, starting at 1; 0 between bursts. No burst lasts much longer than ten milliseconds. */
  number = 0;
  /** Number of bursts so far. */
  #count = 0;
  #isTooLong = false;
  #beganAt = 0;
  #pieces = 0;
  /** Number of pieces of work after which the clock is read again. */
  #lookAfter = 1;
  /** Number of turns in the current pause so far, and the latest time at which the pause ends. */
  #turns = 0;
  #pauseEndsAt = 0;

  constructor(now: () => number = wallClock) {
    this.#now = now;
  }

  /**
   * Counts a piece of work that is about to begin, and reports whether the burst is too long. If the burst is too long,
   * the caller must await {@linkcode Burst.turn} first.
   */
  isTooLong(): boolean {
    if (this.number === 0) this.#begin();
    else if (++this.#pieces === this.#lookAfter) this.#look();
    return this.#isTooLong;
  }

  /**
   * Resolves after the pause. Several calls resolve in the order in which they were made. After the pause, the caller
   * may do one piece of work without calling {@linkcode Burst.isTooLong}, so that faster callers can't starve it.
   */
  turn(): Promise<void> {
    return this.#line.wait();
  }

  #begin(): void {
    this.number = ++this.#count;
    this.#isTooLong = false;
    this.#beganAt = this.#now();
    this.#pieces = 0;
    this.#lookAfter = 1;
    this.#turns = 0;
    nextTask(this.#onTurn);
  }

  /**
   * Reads the clock, and decides after how many pieces of work to read it again: as many as fit in the remaining time
   * at the average speed so far.
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
    this.number = 0;
    if (this.#line.length > 0) this.#serveLine();
  };

  /** Counts a turn of a pause, and reports whether the pause is over. */
  #isPauseOver(): boolean {
    const now = this.#now();
    if (this.#turns === 0) this.#pauseEndsAt = now + (now - this.#beganAt) * MAX_PAUSE;
    return ++this.#turns >= TURNS_PER_PAUSE || now >= this.#pauseEndsAt;
  }

  /**
   * Lets the workers in the line continue, one at a time. If this burst becomes too long, the remaining workers are the
   * first to continue in the next burst.
   */
  async #serveLine(): Promise<void> {
    this.#begin();
    while (this.#line.length > 0 && !this.#isTooLong) {
      this.#line.remove().resolve();
      await undefined; // lets the worker run until it awaits something
      this.#pieces++;
      this.#look();
    }
  }
}

/** The burst shared by all workers in this program, so that several pools together pause as often as a single pool. */
export const burst: Burst = /* @__PURE__ */ new Burst();

/** Timestamp shared by all attempts of a burst, to save allocations. */
export interface Moment {
  /** Time in milliseconds, by the pool's clock. */
  readonly time: number;
}

/**
 * Reads the system clock only once per burst, because each read takes as long as a fast handler. Any other clock is
 * read at each call. Use the time only to show users how long ago an event happened.
 */
export class BurstTime {
  readonly #clock: Clock;
  #latest: Moment = { time: 0 };
  /** Number of the burst in which the clock was last read. */
  #burst = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the current time. */
  now(): Moment {
    const { number } = burst;
    if (number === 0 || number !== this.#burst || !isRealTime(this.#clock)) {
      this.#burst = number;
      try {
        this.#latest = { time: this.#clock.now() };
      } catch {
        // An error would end an attempt whose handler still runs. The latest time is good enough to show to users.
      }
    }
    return this.#latest;
  }
}

/**
 * Time of a clock that may be up to one millisecond old. The system clock is read only when the millisecond of the wall
 * clock has changed, because reading the wall clock takes half as long on Deno. Any other clock is read at each call.
 */
export class RecentTime {
  readonly #clock: Clock;
  readonly #read: () => number;
  /** Wall-clock time at which the system clock was last read, and the result of that read. */
  #readAt = 0;
  #latest = 0;

  /** @param read Returns the clock's time in the unit that `now` returns. By default, milliseconds. */
  constructor(clock: Clock, read: () => number = () => clock.now()) {
    this.#clock = clock;
    this.#read = read;
  }

  now(): number {
    // The old value of `#readAt` is compared with the new one.
    if (!isRealTime(this.#clock) || this.#readAt !== (this.#readAt = wallClock())) this.#latest = this.#read();
    return this.#latest;
  }
}

/** Calls `callback` in its own task, after the timers that are due now. */
export function nextTask(callback: () => void): void {
  if (setImmediate !== undefined) {
    setImmediate(callback);
    return;
  }
  // In browsers, posting a message is the fastest way to start a task. A timer may take four milliseconds to fire.
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    callback();
  };
  port2.postMessage(undefined);
}

/**
 * Calls `callback` after the current synchronous code. Uses a promise, because fake timers may replace
 * `queueMicrotask`.
 */
export function soon(callback: () => void): void {
  Promise.resolve().then(callback);
}
