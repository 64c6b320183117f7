import type { Clock } from "../lib/base/clock.ts";
import { ChurnMap } from "../lib/structures/churn_map.ts";
import { Pruner } from "../lib/structures/pruner.ts";

/** A count that is dropped some time after the end of the last delay that it gave. */
interface Passing {
  readonly count: number;
  readonly end: number;
}

/** Returns the delay after a number of failures. */
type DelayAfter = (failures: number) => number;

/**
 * Counts how often each key has failed since it was last forgotten.
 *
 * Counts last until they are deleted, or they pass: a count is dropped `forgetAfter` after the end of its last delay,
 * so that keys that are never forgotten, such as those of deleted objects, leave nothing behind. `forgetAfter` may
 * change at any time.
 */
export class FailureCounts {
  /** A number is a count that was made while counts last. */
  readonly #counts = new ChurnMap<unknown, number | Passing>();
  readonly #pruner = new Pruner(this.#counts);
  readonly #clock: Clock;
  #forgetAfter: number;
  /** A count whose last delay ended by this time had passed when `forgetAfter` changed. */
  #passedBy = -Infinity;
  /** Returns the end of the last delay of a count that was made while counts last. */
  #endOfLasting: (count: number) => number = () => -Infinity;
  /** The end of the last of all delays, deleted counts included; `undefined` until it is needed after a change. */
  #lastEnd: number | undefined = -Infinity;

  /**
   * Makes counts of zero.
   *
   * @param forgetAfter How long after the end of its last delay a count is dropped, in milliseconds; `Infinity` for
   * never.
   * @param clock Where time comes from. While counts last, nothing asks it.
   */
  constructor(forgetAfter: number, clock: Clock) {
    this.#forgetAfter = forgetAfter;
    this.#clock = clock;
  }

  get forgetAfter(): number {
    return this.#forgetAfter;
  }

  /**
   * Drops counts after another time from now on. Counts that lasted until now may have given their last delay just now,
   * so they pass as if they had. Looks at all counts only when they come to last for a second time.
   *
   * @param delayAfter The delays that were given until now.
   */
  changeForgetAfter(forgetAfter: number, delayAfter: DelayAfter): void {
    const now = this.#clock.now();
    if (this.#lasts) {
      this.#endOfLasting = (count) => now + delayAfter(count);
      this.#lastEnd = undefined;
    } else {
      if (forgetAfter === Infinity) this.#noteEnds(); // from now on, numbers are counts of another period
      this.#passedBy = Math.max(this.#passedBy, now - this.#forgetAfter);
    }
    this.#forgetAfter = forgetAfter;
  }

  /** Counts one more failure of a key. Returns its delay, which `delayAfter` computes. */
  add(key: unknown, delayAfter: DelayAfter): number {
    if (this.#lasts) {
      const count = this.#countOf(key, this.#passedBy) + 1;
      this.#counts.set(key, count);
      this.#lastEnd = Infinity;
      return delayAfter(count);
    }
    const now = this.#clock.now();
    const cutoff = this.#cutoffAt(now);
    const count = this.#countOf(key, cutoff) + 1;
    const delay = delayAfter(count);
    const end = now + delay;
    this.#pruner.prune((value) => this.#endOf(value) <= cutoff);
    this.#counts.set(key, { count, end });
    if (this.#lastEnd !== undefined) this.#lastEnd = Math.max(this.#lastEnd, end);
    return delay;
  }

  /** Returns the count of a key. */
  get(key: unknown): number {
    return this.#countOf(key, this.#cutoff());
  }

  /** Takes the latest failure of a key back. */
  uncount(key: unknown): void {
    const value = this.#counts.get(key);
    if (value === undefined) return;
    if (typeof value === "number") this.#setOrDelete(key, value - 1, value - 1);
    else this.#setOrDelete(key, value.count - 1, { ...value, count: value.count - 1 });
  }

  delete(key: unknown): void {
    this.#counts.delete(key);
  }

  /** Reports whether nothing is counted. May be false up to the end of a count that was deleted. */
  isEmpty(): boolean {
    if (this.#counts.size === 0) return true;
    this.#lastEnd ??= this.#computeLastEnd();
    return this.#lastEnd <= this.#cutoff();
  }

  get #lasts(): boolean {
    return this.#forgetAfter === Infinity;
  }

  /** A count has passed if its last delay ended by then. */
  #cutoff(): number {
    return this.#lasts ? this.#passedBy : this.#cutoffAt(this.#clock.now());
  }

  #cutoffAt(now: number): number {
    return Math.max(now - this.#forgetAfter, this.#passedBy);
  }

  #countOf(key: unknown, cutoff: number): number {
    const value = this.#counts.get(key);
    if (value === undefined || this.#endOf(value) <= cutoff) return 0;
    return typeof value === "number" ? value : value.count;
  }

  #endOf(value: number | Passing): number {
    if (typeof value !== "number") return value.end;
    return this.#lasts ? Infinity : this.#endOfLasting(value);
  }

  /** Notes the ends of the counts that were made while counts lasted. */
  #noteEnds(): void {
    for (const [key, value] of this.#counts.entries()) {
      if (typeof value === "number") this.#counts.set(key, { count: value, end: this.#endOf(value) });
    }
  }

  #setOrDelete(key: unknown, count: number, value: number | Passing): void {
    if (count > 0) this.#counts.set(key, value);
    else this.#counts.delete(key);
  }

  #computeLastEnd(): number {
    let last = -Infinity;
    for (const [, value] of this.#counts.entries()) last = Math.max(last, this.#endOf(value));
    return last;
  }
}
