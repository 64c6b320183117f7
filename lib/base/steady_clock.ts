import { type Clock, systemClock, unref } from "./clock.ts";
import { firstErrorReporter } from "./first_error.ts";

/** A timer of a steady clock. */
interface Timer {
  unref(): void;
  stop(): void;
}

/**
 * Returns a clock with the time and the timers of `clock` that never throws. Queues, limiters, buckets and pools take
 * time from steady clocks only, so that no clock can cost an item anything.
 *
 * A call that throws is made once more, and so is a `now` that returns no finite number. If that fails too, the latest
 * time is used, or a timer of the system's clock. The first such failure is written to `console.error`.
 *
 * @param clock The system's clock if left out. That one never throws, and is returned as it is.
 */
export function steadyClock(clock: Clock = systemClock): Clock {
  return clock === systemClock || clock instanceof SteadyClock ? clock : new SteadyClock(clock);
}

class SteadyClock implements Clock {
  readonly #clock: Clock;
  readonly #report = firstErrorReporter("use clock");
  readonly #look = () => {
    const time = this.#clock.now();
    if (Number.isFinite(time)) return time;
    throw new RangeError(`now() returned ${time}`);
  };
  #latest = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    return this.#latest = this.#try(this.#look) ?? this.#latest;
  }

  setTimeout(callback: () => void, ms: number): Timer {
    let isOver = false;
    const callOnce = () => { // whatever the clock does
      if (isOver) return;
      isOver = true;
      callback();
    };
    const timerOf = (clock: Clock): Timer => {
      const handle = clock.setTimeout(callOnce, ms);
      const stop = () => {
        isOver = true;
        clock.clearTimeout(handle);
      };
      return { unref: () => unref(handle), stop };
    };
    return this.#try(() => timerOf(this.#clock)) ?? timerOf(systemClock);
  }

  clearTimeout(timer: Timer | undefined): void {
    this.#try(() => timer?.stop());
  }

  /** Returns what the call returns at the first or second time; `undefined` if it throws both times. */
  #try<R>(call: () => R): R | undefined {
    try {
      return call();
    } catch {
      try {
        return call();
      } catch (error) {
        this.#report(error);
      }
    }
  }
}
