import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import { RecentTime } from "../lib/structures/burst.ts";
import type { TokenLevel } from "../lib/tokens/token_level.ts";
import { FOREVER, NS_PER_MS, toDelay } from "../lib/policy/tokens.ts";

/** Limiter whose delays keep all items together to a rate. Each failure takes a token from a level of tokens. */
export class TokenLimiter implements RateLimiter {
  readonly countsFailures = false;
  readonly #level: TokenLevel;
  /** Time of the level, in nanoseconds. */
  readonly #time: RecentTime;

  constructor(level: TokenLevel) {
    this.#level = level;
    this.#time = new RecentTime(level.clock, () => level.time());
  }

  when(): number {
    return this.next();
  }

  next(): number {
    const wait = this.#level.take(1, Infinity, this.#time.now()) ?? FOREVER;
    return Math.min(toDelay(wait), FOREVER / NS_PER_MS); // an infinite delay becomes about 292 years, as in Go
  }

  forget(): void {}

  numRequeues(): number {
    return 0;
  }

  atRest(): boolean {
    return this.#level.atRest();
  }
}
