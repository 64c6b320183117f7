/** Number of durations over which the mean is taken, about. */
const WINDOW = 20;

/** Mean of recent durations. Later durations count more. */
export class MeanDuration {
  /** The mean in milliseconds; `undefined` before the first duration. */
  value: number | undefined = undefined;

  add(durationMs: number): void {
    this.value = this.value === undefined ? durationMs : this.value + (durationMs - this.value) / WINDOW;
  }
}
