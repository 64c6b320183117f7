/** How many places there are. The numbers may change. */
export interface SlotBounds {
  /** How many handlers may run at once. With fewer than before, those that run go on. */
  readonly concurrency: number;
  /** How many more may that have run out of time; as many as `concurrency` says if that is left out. */
  readonly maxAbandoned: number | undefined;
}

/**
 * The places of a pool's handlers.
 *
 * A handler that ran out of time and goes on gives its place to another one. That is so for as many handlers as may be
 * abandoned; the ones beyond keep their places, or else a backend that hangs would lift the bound.
 */
export class Slots {
  readonly #bounds: SlotBounds;
  #taken = 0;
  #overdue = 0;
  /** Whether it was told that the bound is reached, since the last time that no handler was overdue. */
  #wasTold = false;

  constructor(bounds: SlotBounds) {
    this.#bounds = bounds;
  }

  /** How many more handlers may begin. Negative with more than that, as `concurrency` was lowered. */
  get free(): number {
    const free = this.#bounds.concurrency - this.#taken;
    return this.#overdue === 0 ? free : free + Math.min(this.#overdue, this.#maxAbandoned);
  }

  /** Whether one more handler may begin. */
  get isOneFree(): boolean {
    return this.free > 0;
  }

  /** How many handlers have run out of time and go on. */
  get overdue(): number {
    return this.#overdue;
  }

  /** How many were taken and not given back, those of abandoned handlers among them. */
  get taken(): number {
    return this.#taken;
  }

  take(): void {
    this.#taken++;
  }

  /**
   * The handler in a slot ran out of time. Tells whether it is the first one that cannot be abandoned and keeps its
   * place, since the last time that no handler was overdue.
   */
  abandon(): boolean {
    this.#overdue++;
    if (this.#wasTold || this.#overdue <= this.#maxAbandoned) return false;
    return this.#wasTold = true;
  }

  /** What is said of that. */
  boundError(): Error {
    return new Error(
      `Cannot begin as many handlers as 'concurrency' says until some have ended: ${this.#overdue} ran out of time and ` +
        `go on, and 'maxAbandoned' is ${this.#maxAbandoned}`,
    );
  }

  giveBack(wasAbandoned = false): void {
    this.#taken--;
    if (wasAbandoned && --this.#overdue === 0) this.#wasTold = false;
  }

  get #maxAbandoned(): number {
    return this.#bounds.maxAbandoned ?? this.#bounds.concurrency;
  }
}
