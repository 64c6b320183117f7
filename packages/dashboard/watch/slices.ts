import { systemClock } from "@workqueue/core";

/** How long the event loop waits at most for what is done to many items, in milliseconds. */
const MAX_SLICE = 10;

/** Cuts work on many items into slices, between which timers and I/O have their turn. */
export class Slices {
  #endsAt = systemClock.now() + MAX_SLICE;

  /** To be asked before each item: what has to be awaited, if the slice is over. */
  pause(): Promise<void> | undefined {
    if (systemClock.now() < this.#endsAt) return undefined;
    return new Promise<void>((resolve) => systemClock.setTimeout(resolve, 0)).then(() => {
      this.#endsAt = systemClock.now() + MAX_SLICE;
    });
  }
}
