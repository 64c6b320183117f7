/** Limits on the slots of a pool. The limits may change at any time. */
export interface SlotBounds {
  /** Maximum number of running handlers. If the maximum is lowered, running handlers continue. */
  readonly concurrency: number;
  /** Maximum number of abandoned handlers that run in addition to `concurrency`. Default: `concurrency`. */
  readonly maxAbandoned: number | undefined;
}

/**
 * A pool's slots for handlers.
 *
 * An abandoned handler frees its slot for another handler. Beyond `maxAbandoned`, abandoned handlers keep their slots.
 * Without this limit, any number of handlers could run while a backend hangs.
 */
export class Slots {
  /**
   * Number of slots that are taken, including the slots of abandoned handlers. The code that takes or frees a slot
   * changes it.
   */
  taken = 0;
  /**
   * Number of slots; 0 unless the pool is open. Less than `taken` if more handlers are running than may start now, for
   * example because `concurrency` was lowered.
   */
  count: number;
  /** Number of slots that stay free, because the items in other slots are worked on in batches that are not full. */
  reserved = 0;
  /** Whether the pool takes items. */
  #isOpen = true;
  /** Number of handlers that have passed their timeout and are still running. */
  abandoned = 0;
  readonly #bounds: SlotBounds;
  /** Whether it has been reported that `maxAbandoned` is exceeded. Reset when no abandoned handlers are left. */
  #wasReported = false;

  constructor(bounds: SlotBounds) {
    this.#bounds = bounds;
    this.count = bounds.concurrency;
  }

  /** Must be called after a change of the bounds, or when the pool opens or closes. */
  adjust(isOpen = this.#isOpen): void {
    this.#isOpen = isOpen;
    const { abandoned, reserved } = this;
    this.count = isOpen ? this.#bounds.concurrency + Math.min(abandoned, this.#maxAbandoned) - reserved : 0;
  }

  /**
   * Marks the handler of a slot as abandoned. Returns an error to report if `maxAbandoned` is exceeded. After such a
   * report, returns `undefined` until no abandoned handlers are left and the maximum is exceeded again.
   */
  abandon(): Error | undefined {
    this.abandoned++;
    this.adjust();
    if (this.#wasReported || this.abandoned <= this.#maxAbandoned) return undefined;
    this.#wasReported = true;
    return new Error(
      `Cannot start as many handlers as 'concurrency' allows: ${this.abandoned} abandoned handlers are still running, ` +
        `and 'maxAbandoned' is ${this.#maxAbandoned}`,
    );
  }

  /** Called when an abandoned handler has ended. */
  endAbandoned(): void {
    if (--this.abandoned === 0) this.#wasReported = false;
    this.adjust();
  }

  get #maxAbandoned(): number {
    return this.#bounds.maxAbandoned ?? this.#bounds.concurrency;
  }
}
