import type { Clock } from "@workqueue/core";
import { NumberHeap } from "@workqueue/core/internal/structures";
import { nextTask } from "./next_task.ts";

/** Timer of a virtual clock. */
interface Timer {
  readonly callback: () => void;
  /** Slot in the heap; -1 if the timer has fired or was stopped. */
  slot: number;
}

/**
 * Clock whose time jumps from timer to timer.
 *
 * After the timers of one instant, the clock waits for one task of the event loop, in which all promise callbacks run.
 * Whether all promises have settled can't be known, so code under this clock must wait only for promises and for timers
 * of this clock.
 */
export class VirtualClock implements Clock {
  #now = 0;
  #set = 0;
  readonly #timers = new NumberHeap<Timer>();

  /** Whether no timer is set. */
  get isIdle(): boolean {
    return this.#timers.length === 0;
  }

  now(): number {
    return this.#now;
  }

  setTimeout(callback: () => void, ms: number): Timer {
    const timer: Timer = { callback, slot: -1 };
    timer.slot = this.#timers.push(timer, this.#now + (ms > 0 ? ms : 0), this.#set++);
    return timer;
  }

  clearTimeout(handle: unknown): void {
    const timer = handle as Timer | undefined;
    if (timer === undefined || timer.slot === -1) return;
    this.#timers.remove(timer.slot);
    timer.slot = -1;
  }

  /**
   * Fires the timers in the order of their times, up to and including the time `end`, until `isOver` returns `true` or
   * no timer is left. Timers of the same time fire in the order in which they were set.
   */
  async run(end: number, isOver: () => boolean): Promise<void> {
    await nextTask();
    while (!isOver() && !this.isIdle) {
      if (this.#timers.smallest > end) {
        this.#now = end;
        return;
      }
      this.#fire();
      await nextTask();
    }
  }

  /** Fires the timers of the next instant. Timers that are set meanwhile fire after the next task. */
  #fire(): void {
    const timers = this.#timers;
    const set = this.#set;
    this.#now = timers.smallest;
    while (timers.smallest === this.#now && timers.smallestOrder < set) {
      const timer = timers.pop()!;
      timer.slot = -1;
      timer.callback();
    }
  }
}
