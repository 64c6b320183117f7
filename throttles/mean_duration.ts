/** Approximate number of durations over which the mean is taken. */
const WINDOW = 500;

/** Mean of recent durations. Later durations count more. */
export class MeanDuration {
  /** The mean in milliseconds; `undefined` before the first duration. */
  value: number | undefined = undefined;
  #count = 0;

  add(durationMs: number): void {
    if (this.#count < WINDOW) this.#count++;
    this.value = (this.value ?? 0) + (durationMs - (this.value ?? 0)) / this.#count;
  }
}
