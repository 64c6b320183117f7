import { systemClock } from "@workqueue/core";

/** Duration of a slice, in milliseconds. A slice blocks the event loop. */
const MAX_SLICE = 10;

/** Divides the processing of many items into slices. Timers and I/O run between slices. */
export class Slices {
  #endsAt = systemClock.now() + MAX_SLICE;

  /** Returns a promise to await if the slice is over; otherwise `undefined`. Call `pause` before each item. */
  pause(): Promise<void> | undefined {
    if (systemClock.now() < this.#endsAt) return undefined;
    return new Promise<void>((resolve) => systemClock.setTimeout(resolve, 0)).then(() => {
      this.#endsAt = systemClock.now() + MAX_SLICE;
    });
  }
}
