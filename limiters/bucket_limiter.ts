import { isSameKey } from "../lib/base/keys.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import { undoTake } from "../lib/tokens/grants.ts";
import type { TokenLevel } from "../lib/tokens/token_level.ts";
import { FOREVER, NS_PER_MS, toDelay } from "../lib/tokens/tokens.ts";

/** Limiter whose delays keep all items together to a rate. Each call to `when` takes a token from a level of tokens. */
export class TokenLimiter implements RateLimiter {
  readonly #level: TokenLevel;
  /** Key passed to the latest call to `when`. */
  #latestKey: unknown = undefined;
  /** Number of the grant of the latest call to `when`; `undefined` if that call was undone or took no token. */
  #latestGrant: number | undefined = undefined;

  constructor(level: TokenLevel) {
    this.#level = level;
  }

  when(item: unknown, key: unknown = item): number {
    const level = this.#level;
    const before = level.grants;
    const wait = level.take(1, Infinity, level.time()) ?? FOREVER;
    this.#latestKey = key;
    this.#latestGrant = level.grants === before ? undefined : level.grants;
    return Math.min(toDelay(wait), FOREVER / NS_PER_MS); // an infinite delay becomes about 292 years, as in Go
  }

  /**
   * Puts the token back. Does nothing if another item has taken a token since, because the delay of that item was
   * computed without this token.
   */
  uncount(item: unknown, key: unknown = item): void {
    if (this.#latestGrant === undefined || !isSameKey(this.#latestKey, key)) return;
    undoTake(this.#level, this.#latestGrant);
    this.#latestGrant = undefined;
  }

  forget(): void {}

  numRequeues(): number {
    return 0;
  }

  atRest(): boolean {
    return this.#level.atRest();
  }
}
