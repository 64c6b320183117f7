import type { Clock } from "@workqueue/core";

interface Timer {
  readonly at: number;
  readonly callback: () => void;
}

/** Clock that moves only when `step` is called. Like the recorded traces, the clock counts whole nanoseconds. */
export class StepClock implements Clock {
  #time = 0;
  /** Active timers, sorted by time. */
  #timers: Timer[] = [];

  now(): number {
    return this.#time / 1e6;
  }

  setTimeout(callback: () => void, ms: number): Timer {
    const timer = { at: this.#time + Math.round(ms * 1e6), callback };
    const later = this.#timers.findIndex(({ at }) => at > timer.at);
    this.#timers.splice(later < 0 ? this.#timers.length : later, 0, timer);
    return timer;
  }

  clearTimeout(handle: unknown): void {
    this.#timers = this.#timers.filter((timer) => timer !== handle);
  }

  /** Moves the clock forward or back. Each timer that becomes due fires when the clock reaches the timer's time. */
  step(ns: number): void {
    const end = this.#time + ns;
    for (
      let next = this.#timers[0];
      next !== undefined && next.at <= end;
      next = this.#timers[0]
    ) {
      this.#timers.shift();
      this.#time = next.at;
      next.callback();
    }
    this.#time = end;
  }
}
