/** Delay after the first failure in a row, in milliseconds. The delay doubles with each further failure. */
const FIRST = 100;

/** Delays between tries that failed in a row: they double, with jitter. */
export class Backoff {
  #failures = 0;

  /** Returns the next delay in milliseconds. The longest delays are between half of `max` and `max`. */
  next(max: number): number {
    return Math.min(max, FIRST * 2 ** this.#failures++) * (0.5 + Math.random() / 2);
  }

  /** Whether there was no failure since the beginning or the last success. */
  get isFresh(): boolean {
    return this.#failures === 0;
  }

  reset(): void {
    this.#failures = 0;
  }
}
