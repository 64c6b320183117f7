/** Delay after the first failure in a row, in milliseconds. The delay doubles with each further failure. */
const FIRST = 100;

/** Returns the delay in milliseconds after some failures in a row. The longest are between half of `max` and `max`. */
export function backoff(failures: number, max: number): number {
  return Math.min(max, FIRST * 2 ** (failures - 1)) * (0.5 + Math.random() / 2);
}
