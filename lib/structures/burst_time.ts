import { type Clock, isRealTime } from "../base/clock.ts";
import { burst } from "./burst.ts";

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
