/**
 * The places of a pool's handlers.
 *
 * A handler that ran out of time and goes on gives its place to another one. That is so for as many handlers as may be
 * abandoned; the ones beyond keep their places, or else a backend that hangs would lift the bound.
 */
export class Slots {
  #count: number;
  #maxAbandoned: number;
  readonly #followsCount: boolean;
  #taken = 0;
  #overdue = 0;
  /** Whether it was told that the bound is reached, since the last time that no handler was overdue. */
  #wasTold = false;

  /**
   * `count` handlers may run at once, and up to `maxAbandoned` more that have run out of time: as many as `count` if that
   * is left out.
   */
  constructor(count: number, maxAbandoned: number | undefined) {
    this.#count = count;
    this.#maxAbandoned = maxAbandoned ?? count;
    this.#followsCount = maxAbandoned === undefined;
  }

  /** How many handlers may run at once. With fewer than before, those that run go on. */
  get count(): number {
    return this.#count;
  }

  set count(count: number) {
    this.#count = count;
    if (this.#followsCount) this.#maxAbandoned = count;
  }

  /** How many more handlers may begin. Negative with more than that, as `count` was lowered. */
  get free(): number {
    return this.#count - this.#taken + Math.min(this.#overdue, this.#maxAbandoned);
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
}
