import { type Clock, systemClock, unref } from "./clock.ts";
import { firstErrorReporter } from "./first_error.ts";

/** Timer of a steady clock. */
interface Timer {
  unref(): void;
  stop(): void;
}

/**
 * Returns a clock that has the time and the timers of `clock` and never throws. Queues, limiters, buckets and pools use
 * steady clocks only, so a failing clock cannot cost an item anything.
 *
 * A call that throws is repeated once, and so is a `now` that does not return a finite number. If that fails too, the
 * latest known time is used, or a timer of the system clock. The first such failure is written to `console.error`.
 *
 * @param clock The clock; the system clock by default. The system clock never throws, and is returned as it is.
 */
export function steadyClock(clock: Clock = systemClock): Clock {
  return clock === systemClock || clock instanceof SteadyClock ? clock : new SteadyClock(clock);
}

class SteadyClock implements Clock {
  readonly #clock: Clock;
  readonly #report = firstErrorReporter("use clock");
  #latest = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  now(): number {
    try { // not through #try: this is called for every item
      return this.#latest = this.#look();
    } catch {
      return this.#latest = this.#try(() => this.#look(), 0) ?? this.#latest;
    }
  }

  setTimeout(callback: () => void, ms: number): Timer {
    let isOver = false;
    const callOnce = () => { // even if the clock calls back twice
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

  /** Returns the result of a call, which is repeated once if it throws; `undefined` if it throws both times. */
  #try<R>(call: () => R, repeats = 1): R | undefined {
    try {
      return call();
    } catch (error) {
      if (repeats > 0) return this.#try(call, 0);
      this.#report(error);
    }
  }

  #look(): number {
    const time = this.#clock.now();
    if (Number.isFinite(time)) return time;
    throw new RangeError(`now() returned ${time}`);
  }
}
