import type { Clock } from "../lib/base/clock.ts";
import { ChurnMap } from "../lib/structures/churn_map.ts";
import { Pruner } from "../lib/structures/pruner.ts";
import type { FailureCounts } from "./failure_counts.ts";

/** How often a key has failed, and when the last delay that this gave is over. */
interface Failures {
  readonly count: number;
  readonly end: number;
}

/**
 * Counts that are dropped some time after the end of the last delay that they gave. So keys that are never forgotten, such
 * as those of items that are gone, leave nothing for ever.
 */
export class PassingCounts implements FailureCounts {
  readonly #failures = new ChurnMap<unknown, Failures>();
  readonly #pruner = new Pruner(this.#failures);
  readonly #forgetAfter: number;
  readonly #clock: Clock;
  /** The end of the last of all delays, those of counts that were deleted among them. */
  #lastEnd = -Infinity;

  constructor(forgetAfter: number, clock: Clock) {
    this.#forgetAfter = forgetAfter;
    this.#clock = clock;
  }

  add(key: unknown, delayAfter: (failures: number) => number): number {
    const now = this.#clock.now();
    const cutoff = now - this.#forgetAfter;
    const count = this.#countAt(cutoff, key) + 1;
    const delay = delayAfter(count);
    this.#pruner.prune(({ end }) => end <= cutoff);
    this.set(key, count, now + delay);
    return delay;
  }

  get(key: unknown): number {
    return this.#countAt(this.#clock.now() - this.#forgetAfter, key);
  }

  set(key: unknown, count: number, end: number): void {
    this.#failures.set(key, { count, end });
    this.#lastEnd = Math.max(this.#lastEnd, end);
  }

  delete(key: unknown): void {
    this.#failures.delete(key);
  }

  /** May be false up to the end of a count that was deleted: nothing looks at all of them. */
  isEmpty(): boolean {
    return this.#failures.size === 0 || this.#lastEnd <= this.#clock.now() - this.#forgetAfter;
  }

  *entries(): Generator<[key: unknown, count: number, end: number], void> {
    const cutoff = this.#clock.now() - this.#forgetAfter;
    for (const [key, { count, end }] of this.#failures.entries()) if (end > cutoff) yield [key, count, end];
  }

  /** The count of a key, which is over if the last delay that it gave ended by then. */
  #countAt(cutoff: number, key: unknown): number {
    const failures = this.#failures.get(key);
    return failures === undefined || failures.end <= cutoff ? 0 : failures.count;
  }
}
