import { type Clock, systemClock, unref } from "./clock.ts";
import { firstErrorReporter } from "./first_error.ts";

/** Timer of a steady clock. */
interface Timer {
  unref(): void;
  stop(): void;
}

/**
 * Wraps a clock so that its methods never throw. Queues, limiters, buckets and pools use only steady clocks, so a
 * failing clock can't cause the loss of an item.
 *
 * If a method throws, or `now` doesn't return a finite number, the call is repeated once. If the second call fails too,
 * the wrapper uses the latest known time, or sets the timer with the system clock. The first such failure is written to
 * `console.error`.
 *
 * @param clock The clock; the system clock by default. The system clock never throws, so it is returned unchanged.
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
    try { // without #try, for speed: this method is called for every item
      return this.#latest = this.#look();
    } catch {
      return this.#latest = this.#try(() => this.#look(), 0) ?? this.#latest;
    }
  }

  setTimeout(callback: () => void, ms: number): Timer {
    let isOver = false;
    const callOnce = () => { // the clock may call back twice
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

  /** Makes a call, and repeats the call once if it throws. Returns the result, or `undefined` if no call succeeds. */
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
