import { type Clock, isRealTime } from "../base/clock.ts";
import { burst } from "./burst.ts";

/** A time that many share: to note a number of milliseconds takes memory each time. */
export interface Moment {
  /** By the clock of the pool. */
  readonly time: number;
}

/**
 * The time as it was earlier in the same burst: to look at the system's clock takes as long as a quick handler. It is
 * good enough for telling users how long ago something was, and for nothing else.
 */
export class BurstTime {
  readonly #clock: Clock;
  #latest: Moment = { time: 0 };
  /** The burst in which the time was looked at. */
  #burst = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): Moment {
    const { number } = burst;
    if (number === 0 || number !== this.#burst || !isRealTime(this.#clock)) {
      this.#latest = { time: this.#clock.now() };
      this.#burst = number;
    }
    return this.#latest;
  }
}
