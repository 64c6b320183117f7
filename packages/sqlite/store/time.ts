/** Converts milliseconds to whole microseconds. The largest result is the largest exact number. */
export function toMicroseconds(ms: number): number {
  return Math.min(Math.floor(ms * 1000 + 0.5), Number.MAX_SAFE_INTEGER);
}
