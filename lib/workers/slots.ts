/** How many places there are. The numbers may change. */
export interface SlotBounds {
  /** How many handlers may run at once. With fewer than before, those that run go on. */
  readonly concurrency: number;
  /** How many abandoned handlers may run beside those. By default, as many as `concurrency`. */
  readonly maxAbandoned: number | undefined;
}

/**
 * The places of a pool's handlers.
 *
 * An abandoned handler gives its place to another one. Beyond `maxAbandoned`, abandoned handlers keep their places;
 * otherwise, a backend that hangs would lift the bound.
 */
export class Slots {
  readonly #bounds: SlotBounds;
  #taken = 0;
  #abandoned = 0;
  /** Whether the bound was reported since the last time that no handler was abandoned. */
  #wasTold = false;

  constructor(bounds: SlotBounds) {
    this.#bounds = bounds;
  }

  /** How many more handlers may begin. Negative with more than that, as `concurrency` was lowered. */
  get free(): number {
    const free = this.#bounds.concurrency - this.#taken;
    return this.#abandoned === 0 ? free : free + Math.min(this.#abandoned, this.#maxAbandoned);
  }

  /** Whether one more handler may begin. */
  get isOneFree(): boolean {
    return this.free > 0;
  }

  /** Number of handlers that passed their timeout and still run. */
  get abandoned(): number {
    return this.#abandoned;
  }

  /** How many were taken and not given back, those of abandoned handlers among them. */
  get taken(): number {
    return this.#taken;
  }

  take(): void {
    this.#taken++;
  }

  /**
   * Notes that the handler in a slot passed its timeout. Returns whether the bound is to be reported: this handler
   * keeps its slot, as the first one since the last time that no handler was abandoned.
   */
  abandon(): boolean {
    this.#abandoned++;
    if (this.#wasTold || this.#abandoned <= this.#maxAbandoned) return false;
    return this.#wasTold = true;
  }

  /** What is said of that. */
  boundError(): Error {
    return new Error(
      `Cannot begin as many handlers as 'concurrency' allows until some have ended: ${this.#abandoned} abandoned handlers ` +
        `still run, and 'maxAbandoned' is ${this.#maxAbandoned}`,
    );
  }

  giveBack(wasAbandoned = false): void {
    this.#taken--;
    if (wasAbandoned && --this.#abandoned === 0) this.#wasTold = false;
  }

  get #maxAbandoned(): number {
    return this.#bounds.maxAbandoned ?? this.#bounds.concurrency;
  }
}
