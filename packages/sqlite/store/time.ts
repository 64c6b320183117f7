/** Largest stored time, in microseconds: the year 2255. Larger numbers are not exact. */
export const FAR = Number.MAX_SAFE_INTEGER;

/** Converts milliseconds to whole microseconds. The largest result is the largest exact number. */
export function toMicroseconds(ms: number): number {
  return Math.min(Math.floor(ms * 1000 + 0.5), Number.MAX_SAFE_INTEGER);
}
