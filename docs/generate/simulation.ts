import type { Clock, WorkQueue } from "@workqueue/core";

/** Clock that jumps from one timer to the next without waiting. */
export class VirtualClock implements Clock {
  #time = 0;
  readonly #timers = new Map<object, { at: number; callback: () => void }>();

  now(): number {
    return this.#time;
  }

  setTimeout(callback: () => void, ms: number): object {
    const handle = {};
    this.#timers.set(handle, { at: this.#time + ms, callback });
    return handle;
  }

  clearTimeout(handle: unknown): void {
    this.#timers.delete(handle as object);
  }

  /** Calls `callback` every `interval` milliseconds, `times` times in total. */
  repeat(interval: number, times: number, callback: (time: number) => void): void {
    const next = (time: number) => {
      callback(this.#time);
      if (time < times) this.setTimeout(() => next(time + 1), interval);
    };
    this.setTimeout(() => next(1), interval);
  }

  /** Fires timers until none is set. */
  run(): void {
    while (this.#timers.size > 0) {
      let next: [handle: object, timer: { at: number; callback: () => void }] | undefined;
      for (const timer of this.#timers) if (next === undefined || timer[1].at < next[1].at) next = timer;
      const [handle, { at, callback }] = next!;
      this.#timers.delete(handle);
      this.#time = at;
      callback();
    }
  }
}

/** Simulated workers that need a fixed time for each item. Calls `onBegin` when a worker begins an item. */
export class Workers {
  readonly #clock: Clock;
  readonly #queue: WorkQueue<string>;
  readonly #takes: number;
  readonly #onBegin: (item: string) => void;
  #idle: number;

  constructor(queue: WorkQueue<string>, clock: Clock, count: number, takes: number, onBegin: (item: string) => void) {
    this.#queue = queue;
    this.#clock = clock;
    this.#idle = count;
    this.#takes = takes;
    this.#onBegin = onBegin;
  }

  /** Lets idle workers take ready items. */
  look(): void {
    while (this.#idle > 0) {
      const lease = this.#queue.tryGet();
      if (lease === undefined) return;
      this.#idle--;
      this.#onBegin(lease.item);
      this.#clock.setTimeout(() => {
        lease[Symbol.dispose]();
        this.#idle++;
        this.look();
      }, this.#takes);
    }
  }
}
