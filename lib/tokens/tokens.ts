/**
 * The arithmetic of a token bucket. Time is in whole nanoseconds, as in Go: sums and comparisons of times are exact.
 */

export const NS_PER_MS = 1e6;
const NS_PER_S = 1e9;

/** The longest duration there is, in nanoseconds: about 292 years. It stands for "never". */
export const FOREVER = 2 ** 63;

/** The tokens that come in a number of nanoseconds, at a rate of tokens a second. */
export function tokensIn(ns: number, rate: number): number {
  const whole = Math.trunc(ns / NS_PER_S);
  const seconds = whole === 0 ? ns / NS_PER_S : whole + ns % NS_PER_S / NS_PER_S; // rounded as Go rounds it
  return seconds * Math.min(rate, Number.MAX_VALUE); // 0 × Infinity would be NaN
}

/** The whole nanoseconds in which a number of tokens comes. */
export function timeFor(tokens: number, rate: number): number {
  return rate === 0 ? FOREVER : Math.min(Math.trunc(tokens / rate * NS_PER_S), FOREVER);
}

/** The milliseconds of a wait; `Infinity` for one that stands for "never". */
export function toDelay(wait: number): number {
  return wait >= FOREVER / 2 ? Infinity : Math.max(wait, 0) / NS_PER_MS; // half, as sums with FOREVER are not exact
}
