import type { Clock } from "@workqueue/core";

/** Clock that advances only on request and costs nothing, so that a benchmark measures only the queue. */
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

  /** Advances to the earliest timer and fires it. */
  moveToNextTimer(): void {
    let earliest: [handle: number, { at: number; callback: () => void }] | undefined;
    for (const timer of this.#timers) if (earliest === undefined || timer[1].at < earliest[1].at) earliest = timer;
    if (earliest === undefined) throw new Error("Cannot move on: no timer is set");
    const [handle, { at, callback }] = earliest;
    this.#timers.delete(handle);
    this.#time = at;
    callback();
  }
}
