import type { Clock } from "../lib/base/clock.ts";
import { ChurnMap } from "../lib/base/churn_map.ts";
import { Pruner } from "../lib/structures/pruner.ts";
import type { DelayAfter, FailureCounts } from "./failures.ts";

/** A failure count that expires some time after the end of its key's last delay. */
interface Passing {
  readonly count: number;
  readonly end: number;
}

/**
 * Failure counts that expire.
 *
 * A count is dropped when `forgetAfter` milliseconds have passed since the end of its key's last delay.
 * So counts don't accumulate even if `forget` is never called for some keys, such as the keys of deleted objects.
 */
export class ExpiringCounts implements FailureCounts {
  readonly forgetAfter: number;
  readonly #clock: Clock;
  readonly #counts = new ChurnMap<unknown, Passing>();
  readonly #pruner = new Pruner(this.#counts);
  /** Latest end of any delay, including the delays of keys whose counts have been deleted. */
  #lastEnd = -Infinity;

  /**
   * Creates an object without counts.
   *
   * @param forgetAfter Time from the end of a key's last delay until the key's count expires, in milliseconds.
   */
  constructor(forgetAfter: number, clock: Clock) {
    this.forgetAfter = forgetAfter;
    this.#clock = clock;
  }

  add(key: unknown, delayAfter: DelayAfter): number {
    const now = this.#clock.now();
    const count = this.#countOf(key, now) + 1;
    const delay = delayAfter(count);
    const end = now + delay;
    this.#pruner.prune((passing) => this.#isOver(passing.end, now));
    this.#counts.set(key, { count, end });
    this.#lastEnd = Math.max(this.#lastEnd, end);
    return delay;
  }

  get(key: unknown): number {
    return this.#countOf(key, this.#clock.now());
  }

  delete(key: unknown): void {
    this.#counts.delete(key);
  }

  /**
   * Reports whether no failures are counted. After a count is deleted, may return `false` until the count would have
   * expired.
   */
  isEmpty(): boolean {
    return this.#counts.size === 0 || this.#isOver(this.#lastEnd, this.#clock.now());
  }

  #countOf(key: unknown, now: number): number {
    const passing = this.#counts.get(key);
    return passing === undefined || this.#isOver(passing.end, now) ? 0 : passing.count;
  }

  #isOver(end: number, now: number): boolean {
    return end + this.forgetAfter <= now;
  }
}
