import type { Rate } from "../registry/fields.ts";

/** Part of a start by which a computed number of starts may be too small, because of rounding. */
const ROUNDING = 1e-9;

/**
 * Token bucket that is a single time, the time at which it is full: the Generic Cell Rate Algorithm (ITU-T I.371). Each
 * start moves that time on by the interval between two starts. All times are in milliseconds.
 */
export class StartRate {
  /** Time from which the bucket is full. */
  fullAt = -Infinity;
  readonly #interval: number;
  readonly #burst: number;

  constructor({ rate, burst }: Rate) {
    this.#interval = 1000 / rate;
    this.#burst = burst;
  }

  /** Returns the number of starts that are allowed at a time. */
  allowedAt(now: number): number {
    const missing = Math.max(this.fullAt - now, 0) / this.#interval;
    return Math.max(Math.floor(this.#burst - missing + ROUNDING), 0);
  }

  /** Returns the time at which one more start is allowed than now; `Infinity` if the bucket is full. */
  allowsMoreAt(now: number): number {
    const missing = this.#burst - this.allowedAt(now);
    if (missing === 0) return Infinity;
    const at = this.fullAt - (missing - 1) * this.#interval;
    return Math.round(at * 1e6) / 1e6; // to the nanosecond, so that rounding doesn't make a timer a millisecond late
  }

  start(now: number): void {
    this.fullAt = Math.max(this.fullAt, now) + this.#interval;
  }
}
