import type { Clock } from "../lib/base/clock.ts";
import { ChurnMap } from "../lib/structures/churn_map.ts";
import { Pruner } from "../lib/structures/pruner.ts";

/** A count that expires some time after the end of its last delay. */
interface Passing {
  readonly count: number;
  readonly end: number;
}

/** Returns the delay after a number of failures, in milliseconds. */
type DelayAfter = (failures: number) => number;

/**
 * Failure counts by key, since the key was last forgotten.
 *
 * Counts expire: a count is dropped `forgetAfter` after the end of its last delay. So keys that are never forgotten,
 * such as those of deleted objects, leave nothing behind. If `forgetAfter` is `Infinity`, counts are permanent: they
 * stay until they are deleted. `forgetAfter` may change at any time.
 */
export class FailureCounts {
  /** A plain number is a count that was made while counts are permanent. */
  readonly #counts = new ChurnMap<unknown, number | Passing>();
  readonly #pruner = new Pruner(this.#counts);
  readonly #clock: Clock;
  #forgetAfter: number;
  /** Counts whose last delay ended by this time had already expired when `forgetAfter` changed. */
  #passedBy = -Infinity;
  /** Returns the end of the last delay of a count that was made while counts were permanent. */
  #endOfLasting: (count: number) => number = () => -Infinity;
  /**
   * End of the last of all delays, including those of deleted counts; `undefined` after a change, until it is needed.
   */
  #lastEnd: number | undefined = -Infinity;

  /**
   * Creates an object without counts.
   *
   * @param forgetAfter Time after the end of its last delay at which a count expires, in milliseconds; `Infinity` for
   * never.
   * @param clock The clock. It is not read while counts are permanent.
   */
  constructor(forgetAfter: number, clock: Clock) {
    this.#forgetAfter = forgetAfter;
    this.#clock = clock;
  }

  get forgetAfter(): number {
    return this.#forgetAfter;
  }

  /**
   * Changes `forgetAfter`. Permanent counts may have returned their last delay just now, so they expire as if they had.
   * Iterates over all counts only when they become permanent.
   *
   * @param delayAfter Computes the delays as they were until now.
   */
  changeForgetAfter(forgetAfter: number, delayAfter: DelayAfter): void {
    const now = this.#clock.now();
    if (this.#lasts) {
      this.#endOfLasting = (count) => now + delayAfter(count);
      this.#lastEnd = undefined;
    } else {
      if (forgetAfter === Infinity) this.#noteEnds(); // from now on, plain numbers are counts of a new period
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

  /** Undoes the latest failure of a key. */
  uncount(key: unknown): void {
    const value = this.#counts.get(key);
    if (value === undefined) return;
    if (typeof value === "number") this.#setOrDelete(key, value - 1, value - 1);
    else this.#setOrDelete(key, value.count - 1, { ...value, count: value.count - 1 });
  }

  delete(key: unknown): void {
    this.#counts.delete(key);
  }

  /** Reports whether nothing is counted. May still return `false` until a deleted count would have expired. */
  isEmpty(): boolean {
    if (this.#counts.size === 0) return true;
    this.#lastEnd ??= this.#computeLastEnd();
    return this.#lastEnd <= this.#cutoff();
  }

  get #lasts(): boolean {
    return this.#forgetAfter === Infinity;
  }

  /** Returns the cutoff: a count has expired if its last delay ended by then. */
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

  /** Stores the ends of the counts that were made while counts were permanent. */
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
