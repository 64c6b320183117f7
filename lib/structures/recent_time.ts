import { type Clock, isRealTime } from "../base/clock.ts";
import { wallClock } from "./burst.ts";

/**
 * Time of a clock that may be up to one millisecond old. The system clock is read only when the millisecond of the wall
 * clock has changed, because reading the wall clock takes half as long on Deno. Any other clock is read at each call.
 */
export class RecentTime {
  readonly #clock: Clock;
  /** Wall-clock time at which the system clock was last read, and the time that it showed. */
  #readAt = NaN;
  #latest = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    const before = this.#readAt;
    const isUpToDate = isRealTime(this.#clock) && before === (this.#readAt = wallClock());
    return isUpToDate ? this.#latest : this.#latest = this.#clock.now();
  }
}
