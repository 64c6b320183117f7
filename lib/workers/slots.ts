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
  readonly #bounds: SlotBounds;
  #taken = 0;
  #abandoned = 0;
  /** Whether it has been reported that `maxAbandoned` is exceeded. Reset when no abandoned handlers are left. */
  #wasReported = false;

  constructor(bounds: SlotBounds) {
    this.#bounds = bounds;
  }

  /**
   * Number of handlers that may still start. Negative if more handlers are running than a lowered `concurrency` allows.
   */
  get free(): number {
    const free = this.#bounds.concurrency - this.#taken;
    return this.#abandoned === 0 ? free : free + Math.min(this.#abandoned, this.#maxAbandoned);
  }

  /** Whether one more handler may start. */
  get isOneFree(): boolean {
    return this.free > 0;
  }

  /** Number of handlers that have passed their timeout and are still running. */
  get abandoned(): number {
    return this.#abandoned;
  }

  /** Number of slots that were taken and have not been given back, including the slots of abandoned handlers. */
  get taken(): number {
    return this.#taken;
  }

  take(): void {
    this.#taken++;
  }

  /**
   * Marks the handler of a slot as abandoned. Returns `true` if `maxAbandoned` is exceeded and the caller must report
   * it. After such a report, returns `false` until no abandoned handlers are left and the maximum is exceeded again.
   */
  abandon(): boolean {
    this.#abandoned++;
    if (this.#wasReported || this.#abandoned <= this.#maxAbandoned) return false;
    return this.#wasReported = true;
  }

  /** Creates the error that reports that `maxAbandoned` is exceeded. */
  boundError(): Error {
    return new Error(
      `Cannot start as many handlers as 'concurrency' allows: ${this.#abandoned} abandoned handlers are still running, ` +
        `and 'maxAbandoned' is ${this.#maxAbandoned}`,
    );
  }

  giveBack(wasAbandoned = false): void {
    this.#taken--;
    if (wasAbandoned && --this.#abandoned === 0) this.#wasReported = false;
  }

  get #maxAbandoned(): number {
    return this.#bounds.maxAbandoned ?? this.#bounds.concurrency;
  }
}
