import type { Clock } from "@workqueue/core";

/** A clock that is moved by hand, and fires timers when it is: the one due first, then the one set first. */
export class HandClock implements Clock {
  #now = 0;
  #nextHandle = 1;
  readonly #timers = new Map<number, { callback: () => void; due: number }>();

  /** The number of timers that are set. */
  get timers(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#now;
  }

  setTimeout(callback: () => void, ms: number): number {
    this.#timers.set(this.#nextHandle, { callback, due: this.#now + ms });
    return this.#nextHandle++;
  }

  clearTimeout(handle: unknown): void {
    this.#timers.delete(handle as number);
  }

  /** Time passes, and no timer fires before it has: as when the machine was asleep. */
  sleep(ms: number): void {
    this.#now += ms;
    this.pass(0);
  }

  pass(ms: number): void {
    const end = this.#now + ms;
    while (true) {
      const [first] = [...this.#timers].sort(([, a], [, b]) => a.due - b.due);
      if (first === undefined || first[1].due > end) break;
      const [handle, { callback, due }] = first;
      this.#timers.delete(handle);
      this.#now = Math.max(this.#now, due);
      callback();
    }
    this.#now = end;
  }
}
