/** Arithmetic of a token bucket. Times are whole nanoseconds, as in Go, so their sums and comparisons are exact. */

export const NS_PER_MS = 1e6;
const NS_PER_S = 1e9;

/** Longest duration, 2^63 nanoseconds: about 292 years. Stands for "never". A literal, which bundlers can drop. */
export const FOREVER = 0x8000_0000_0000_0000;

/** Returns the number of tokens added in `ns` nanoseconds at `rate` tokens per second. */
export function tokensIn(ns: number, rate: number): number {
  const whole = Math.trunc(ns / NS_PER_S);
  const seconds = whole === 0 ? ns / NS_PER_S : whole + ns % NS_PER_S / NS_PER_S; // rounded as in Go; `%` is slow
  return seconds * Math.min(rate, Number.MAX_VALUE); // 0 × Infinity would be NaN
}

/** Returns the time, in whole nanoseconds, that it takes to add `tokens` tokens at `rate` tokens per second. */
export function timeFor(tokens: number, rate: number): number {
  return rate === 0 ? FOREVER : Math.min(Math.trunc(tokens / rate * NS_PER_S), FOREVER);
}

/** Converts nanoseconds to milliseconds; `Infinity` for a time that stands for "never". */
export function toDelay(wait: number): number {
  return wait >= FOREVER / 2 ? Infinity : Math.max(wait, 0) / NS_PER_MS; // half of FOREVER, because sums are inexact
}
