/** Maximum weight of the past, in values: the mean follows durations that change. */
const MAX_COUNT = 100;

/** Mean of the latest values. */
export class Mean {
  /** Number of values, at most {@linkcode MAX_COUNT}. */
  count = 0;
  value: number;

  /** @param value Mean before the first value. */
  constructor(value = 0) {
    this.value = value;
  }

  add(value: number): void {
    this.count = Math.min(this.count + 1, MAX_COUNT);
    this.value += (value - this.value) / this.count;
  }
}
