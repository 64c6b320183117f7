import type { Clock } from "../lib/base/clock.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import { ChurnMap } from "../lib/structures/churn_map.ts";
import { Pruner } from "../lib/structures/pruner.ts";

/** How often a key has failed, and until when that counts. */
interface Failures {
  readonly count: number;
  readonly until: number;
}

/**
 * As a `FailureLimiter`, but a count is dropped some time after the end of the last delay that it gave. So keys that are
 * never forgotten, such as those of items that are gone, leave nothing for ever.
 */
export class PassingFailureLimiter implements RateLimiter {
  readonly #failures = new ChurnMap<unknown, Failures>();
  readonly #pruner = new Pruner(this.#failures);
  readonly #delay: (failures: number) => number;
  readonly #forgetAfter: number;
  readonly #clock: Clock;
  /** When the last of all counts is over, those among them that were forgotten. */
  #allOver = -Infinity;

  constructor(delay: (failures: number) => number, forgetAfter: number, clock: Clock) {
    this.#delay = delay;
    this.#forgetAfter = forgetAfter;
    this.#clock = clock;
  }

  when(item: unknown, key: unknown = item): number {
    const now = this.#clock.now();
    const count = this.#countAt(now, key) + 1;
    const delay = this.#delay(count);
    const until = now + delay + this.#forgetAfter;
    this.#pruner.prune((failures) => failures.until <= now);
    this.#failures.set(key, { count, until });
    this.#allOver = Math.max(this.#allOver, until);
    return delay;
  }

  forget(item: unknown, key: unknown = item): void {
    this.#failures.delete(key);
  }

  numRequeues(item: unknown, key: unknown = item): number {
    return this.#countAt(this.#clock.now(), key);
  }

  /** May be false for longer than need be, up to the end of a count that was forgotten: nothing looks at all of them. */
  atRest(): boolean {
    return this.#failures.size === 0 || this.#allOver <= this.#clock.now();
  }

  #countAt(now: number, key: unknown): number {
    const failures = this.#failures.get(key);
    return failures === undefined || failures.until <= now ? 0 : failures.count;
  }
}
