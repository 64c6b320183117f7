import { type Clock, isRealTime } from "../base/clock.ts";
import { burst } from "../structures/burst.ts";

/** Longest time for which one slice blocks the event loop, in milliseconds. */
const MAX_SLICE = 10;
/** Number of items between two reads of the clock. */
const ITEMS_PER_LOOK = 16;

/**
 * Calls `action`, which adds some items of a batch. Pending `get` calls are served only after `action` returns. A
 * first-in, first-out queue hands out items after each slice, because later slices can't change the order. A queue with
 * a discipline hands out no items until the batch is over, which is when `action` returns `true` or throws.
 */
export type AddSlice = (action: () => boolean) => void;

/** Items of a delaying queue that may be due. */
export interface DueItems {
  /** Reports whether no item is due at `time`. */
  isNothingDue(time: number): boolean;
  /** Makes the item with the earliest deadline ready. There must be a delayed item. */
  makeNextReady(): void;
  /** Called at the end of each batch, even if the batch ends with an error. */
  onBatchEnd(): void;
}

/** Batch of items: all items that were due at the time of one check. */
interface Batch {
  /** Time of the check. */
  readonly time: number;
  /** Adds a slice to the queue. */
  readonly addSlice: AddSlice;
  /** Whether a slice is being added now, by a caller further up the stack. */
  isAdding: boolean;
}

/**
 * Makes due items ready in slices, so that the event loop is never blocked for long. All items that are due at the
 * first check form one batch. Items that become due during a batch form the next batch.
 */
export class Slices {
  readonly #clock: Clock;
  readonly #beginBatch: (readyAt: number) => AddSlice;
  readonly #items: DueItems;
  /** Batch that has begun and has not ended. */
  batch: Batch | undefined = undefined;

  /** Creates slices of `items`. `beginBatch` begins a batch of the queue. */
  constructor(clock: Clock, beginBatch: (readyAt: number) => AddSlice, items: DueItems) {
    this.#clock = clock;
    this.#beginBatch = beginBatch;
    this.#items = items;
  }

  /** Adds the next slice of the batch, or the first slice of a new batch. */
  addNext(): void {
    const now = this.#clock.now();
    const batch = this.batch ??= { time: now, addSlice: this.#beginBatch(now), isAdding: false };
    batch.isAdding = true;
    batch.addSlice(() => {
      let isOver = true;
      try {
        isOver = this.#makeReady(batch, now);
      } finally {
        batch.isAdding = false;
        if (isOver && this.batch === batch) {
          this.batch = undefined;
          this.#items.onBatchEnd();
        }
      }
      return isOver;
    });
  }

  /** Ends the batch, if there is one, without adding the rest of it. Doesn't call `onBatchEnd`. */
  cancel(): void {
    const batch = this.batch;
    this.batch = undefined;
    if (batch?.isAdding === false) batch.addSlice(() => true); // ends the batch in the queue
  }

  /** Adds one slice of the batch. Reports whether the batch is complete. */
  #makeReady(batch: Batch, now: number): boolean {
    const isSliced = isRealTime(this.#clock);
    for (let count = 1; this.batch === batch; count++) { // a discipline may shut the queue down
      if (this.#items.isNothingDue(batch.time)) return true;
      if (isSliced && count % ITEMS_PER_LOOK === 0) {
        burst.isTooLong(); // starts a burst if there is none, so that the slice's time counts toward the burst's limit
        if (this.#clock.now() >= now + MAX_SLICE) return false;
      }
      this.#items.makeNextReady();
    }
    return true;
  }
}
