/** Delay, in milliseconds, below which the scale is almost linear. A logarithm alone can't show a delay of 0. */
const LINEAR = 5;

/**
 * Places a delay on a scale that is logarithmic except for the first few milliseconds.
 *
 * @param delay The delay, in milliseconds.
 * @param max The longest delay, in milliseconds.
 * @returns A number from 0 (no delay) to 1 (the longest delay).
 */
export function scaleDelay(delay: number, max: number): number {
  return max === 0 ? 0 : Math.log1p(delay / LINEAR) / Math.log1p(max / LINEAR);
}

/** Returns the longest delay of several limiters, in milliseconds; 0 if there is none. */
export function longestOf(limiters: readonly { readonly delays: readonly number[] }[]): number {
  return Math.max(0, ...limiters.flatMap(({ delays }) => delays));
}
