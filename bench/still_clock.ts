import type { Clock } from "@workqueue/core";

/** A clock that stands still until it is moved, and costs nothing: what is measured is the queue. */
export class StillClock implements Clock {
  #time = 0;
  #timers = new Map<number, { at: number; callback: () => void }>();
  #set = 0;

  now(): number {
    return this.#time;
  }

  setTimeout(callback: () => void, ms: number): number {
    this.#timers.set(++this.#set, { at: this.#time + ms, callback });
    return this.#set;
  }

  clearTimeout(handle: unknown): void {
    this.#timers.delete(handle as number);
  }

  /** Moves to the earliest timer and lets it fire. */
  moveToNextTimer(): void {
    let earliest: [handle: number, { at: number; callback: () => void }] | undefined;
    for (const timer of this.#timers) if (earliest === undefined || timer[1].at < earliest[1].at) earliest = timer;
    if (earliest === undefined) throw new Error("Cannot move on as no timer is set");
    const [handle, { at, callback }] = earliest;
    this.#timers.delete(handle);
    this.#time = at;
    callback();
  }
}
