import type { Clock } from "../lib/base/clock.ts";
import { ChurnMap } from "../lib/base/churn_map.ts";
import { Pruner } from "../lib/structures/pruner.ts";
import type { DelayAfter, FailureCounts } from "./failures.ts";
import { OfQueues } from "./of_queues.ts";

/** A failure count that expires some time after the end of its key's last delay. */
interface Passing {
  readonly count: number;
  readonly end: number;
}

/** Failure counts of one queue. */
class Counts {
  /** Counts by key. A plain number is a count without the end of its last delay, stored while counts were permanent. */
  readonly byKey = new ChurnMap<unknown, number | Passing>();
  readonly pruner = new Pruner(this.byKey);
  /**
   * Latest end of any delay, including the delays of keys whose counts have been deleted. After a change to
   * `forgetAfter`, the field may be `undefined` until its value is needed.
   */
  lastEnd: number | undefined = -Infinity;
}

/**
 * Failure counts that expire.
 *
 * A count is dropped when `forgetAfter` milliseconds have passed since the end of its key's last delay.
 * So counts don't accumulate even if `forget` is never called for some keys, such as the keys of deleted objects. If
 * `forgetAfter` is `Infinity`, counts are permanent: they stay until they are deleted. `forgetAfter` may change at any
 * time.
 */
export class ExpiringCounts implements FailureCounts {
  readonly #ofQueues = new OfQueues(() => new Counts());
  readonly #clock: Clock;
  #forgetAfter: number;
  /** Counts whose last delay ended at or before this time had already expired when `forgetAfter` last changed. */
  #passedBy = -Infinity;
  /** Returns the assumed end of a key's last delay, given a count that was stored while counts were permanent. */
  #endOfLasting: (count: number) => number = () => -Infinity;

  /**
   * Creates an object without counts.
   *
   * @param forgetAfter Time from the end of a key's last delay until the key's count expires, in milliseconds. Default:
   * never.
   * @param clock The clock; not read while counts are permanent.
   */
  constructor(forgetAfter: number = Infinity, clock: Clock) {
    this.#forgetAfter = forgetAfter;
    this.#clock = clock;
  }

  get forgetAfter(): number {
    return this.#forgetAfter;
  }

  /**
   * Changes `forgetAfter`. The times of permanent counts are unknown, so these counts expire as if their last delay
   * began now. Iterates over all counts only when counts become permanent.
   *
   * @param delayAfter Computes the delays that applied until now.
   */
  changeForgetAfter(forgetAfter: number, delayAfter: DelayAfter): void {
    const now = this.#clock.now();
    if (this.#lasts) {
      this.#endOfLasting = (count) => now + delayAfter(count);
      for (const counts of this.#ofQueues) counts.lastEnd = undefined;
    } else {
      if (forgetAfter === Infinity) this.#noteEnds(); // later plain numbers will have another assumed end
      this.#passedBy = Math.max(this.#passedBy, now - this.#forgetAfter);
    }
    this.#forgetAfter = forgetAfter;
  }

  add(key: unknown, delayAfter: DelayAfter): number {
    if (this.#forgetAfter !== Infinity) return this.#addPassing(key, delayAfter);
    const counts = this.#ofQueues.current;
    const value = counts.byKey.get(key);
    const count = (typeof value === "number" ? value : value === undefined ? 0 : this.#countOf(key, this.#passedBy)) +
      1;
    counts.byKey.set(key, count);
    counts.lastEnd = Infinity;
    return delayAfter(count);
  }

  #addPassing(key: unknown, delayAfter: DelayAfter): number {
    const now = this.#clock.now();
    const cutoff = this.#cutoffAt(now);
    const count = this.#countOf(key, cutoff) + 1;
    const delay = delayAfter(count);
    const end = now + delay;
    const counts = this.#ofQueues.current;
    counts.pruner.prune((value) => this.#endOf(value) <= cutoff);
    counts.byKey.set(key, { count, end });
    if (counts.lastEnd !== undefined) counts.lastEnd = Math.max(counts.lastEnd, end);
    return delay;
  }

  get(key: unknown): number {
    return this.#countOf(key, this.#cutoff());
  }

  uncount(key: unknown): void {
    const value = this.#ofQueues.current.byKey.get(key);
    if (value === undefined) return;
    if (typeof value === "number") this.#setOrDelete(key, value - 1, value - 1);
    else this.#setOrDelete(key, value.count - 1, { ...value, count: value.count - 1 });
  }

  delete(key: unknown): void {
    this.#ofQueues.current.byKey.delete(key);
  }

  /**
   * Reports whether no failures are counted. After a count is deleted, may return `false` until the count would have
   * expired.
   */
  isEmpty(): boolean {
    for (const counts of this.#ofQueues) {
      if (counts.byKey.size > 0 && (counts.lastEnd ??= this.#lastEndOf(counts)) > this.#cutoff()) return false;
    }
    return true;
  }

  get #lasts(): boolean {
    return this.#forgetAfter === Infinity;
  }

  /** Returns the cutoff time: a count has expired if its last delay ended at or before the cutoff. */
  #cutoff(): number {
    return this.#lasts ? this.#passedBy : this.#cutoffAt(this.#clock.now());
  }

  #cutoffAt(now: number): number {
    return Math.max(now - this.#forgetAfter, this.#passedBy);
  }

  #countOf(key: unknown, cutoff: number): number {
    const value = this.#ofQueues.current.byKey.get(key);
    if (value === undefined || this.#endOf(value) <= cutoff) return 0;
    return typeof value === "number" ? value : value.count;
  }

  #endOf(value: number | Passing): number {
    if (typeof value !== "number") return value.end;
    return this.#lasts ? Infinity : this.#endOfLasting(value);
  }

  /** Adds the end of the last delay to each count that is a plain number. */
  #noteEnds(): void {
    for (const { byKey } of this.#ofQueues) {
      for (const [key, value] of byKey.entries()) {
        if (typeof value === "number") byKey.set(key, { count: value, end: this.#endOf(value) });
      }
    }
  }

  #setOrDelete(key: unknown, count: number, value: number | Passing): void {
    if (count > 0) this.#ofQueues.current.byKey.set(key, value);
    else this.delete(key);
  }

  #lastEndOf({ byKey }: Counts): number {
    let last = -Infinity;
    for (const [, value] of byKey.entries()) last = Math.max(last, this.#endOf(value));
    return last;
  }
}
