import { systemClock } from "@workqueue/core";

/** Longest time that work on many items may block the event loop, in milliseconds. */
const MAX_SLICE = 10;

/** Divides work on many items into slices. Timers and I/O run between slices. */
export class Slices {
  #endsAt = systemClock.now() + MAX_SLICE;

  /** Returns a promise to await if the slice is over; otherwise `undefined`. Call it before each item. */
  pause(): Promise<void> | undefined {
    if (systemClock.now() < this.#endsAt) return undefined;
    return new Promise<void>((resolve) => systemClock.setTimeout(resolve, 0)).then(() => {
      this.#endsAt = systemClock.now() + MAX_SLICE;
    });
  }
}
