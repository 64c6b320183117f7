import { setBrand } from "../base/brands.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { FOREVER, NS_PER_MS, timeFor, tokensIn } from "../policy/tokens.ts";

/** Key of a bucket's level. The symbol is not in the global registry, because other copies may have other levels. */
const LEVEL = /* @__PURE__ */ Symbol();

/** Sets the level of a bucket. Not a class member, because `TokenBucket` is public, and its level is not. */
export function setLevel(bucket: object, level: TokenLevel): void {
  setBrand(bucket, LEVEL, level);
}

/** Returns the level of a bucket. */
export function levelOf(bucket: object): TokenLevel {
  return (bucket as { [LEVEL]: TokenLevel })[LEVEL];
}

/**
 * Number of tokens in a bucket, which rises with time and falls with each event. The algorithm of Go's
 * [`golang.org/x/time/rate`](https://pkg.go.dev/golang.org/x/time/rate), with pauses.
 *
 * The level's own time stands still during a pause: it is the clock's time minus the length of all pauses. Tokens and
 * grants are computed in the level's own time. The end of a pause, and the time from which tokens may be used, are in
 * the clock's time. All times are in nanoseconds.
 */
export class TokenLevel {
  readonly clock: Clock;
  rate: number;
  burst: number;
  /** Time from which the most recently granted tokens may be used, in the level's own time; possibly in the past. */
  lastEvent = -FOREVER;
  /** End of the last pause, in the clock's time; in the past or in the future. */
  pausedUntil = -FOREVER;
  /** Total length of all pauses, up to the end of the last one. */
  paused = 0;
  /** Time of the last change to the number of tokens, in the level's own time. */
  last = -FOREVER;
  /** Clock time from which all times are counted. The number of nanoseconds since this time is exact for 104 days. */
  readonly #origin: number;
  /** Number of tokens at the time `last`. Negative while future tokens are reserved. */
  #tokens: number;

  /** Creates a full level. */
  constructor(rate: number, burst: number, clock: Clock = systemClock) {
    this.clock = clock;
    this.#origin = this.clock.now();
    this.rate = rate;
    this.burst = burst;
    this.#tokens = burst;
  }

  /** Returns the clock's time. */
  time(): number {
    return Math.round((this.clock.now() - this.#origin) * NS_PER_MS);
  }

  /** Converts the clock's time to the level's own time. */
  ownTime(time: number): number {
    return Math.max(time, this.pausedUntil) - this.paused;
  }

  /**
   * Returns the number of tokens at a given moment of the level's own time. If time has gone backwards, no tokens are
   * added.
   */
  tokensAt(now: number): number {
    const elapsed = Math.max(now - this.last, 0);
    return Math.min(this.#tokens + tokensIn(elapsed, this.rate), this.burst);
  }

  /**
   * Takes tokens as of a given moment, in the clock's time. Returns the time until the tokens may be used. Returns
   * `undefined` and takes no tokens if that time would exceed `maxWait`, or if `n` exceeds the burst while the rate is
   * finite.
   */
  take(n: number, maxWait: number, time: number): number | undefined {
    const pause = Math.max(this.pausedUntil - time, 0);
    if (this.rate === Infinity) return pause > maxWait ? undefined : pause;

    const now = this.ownTime(time);
    const tokens = this.tokensAt(now) - n;
    const wait = pause + (tokens < 0 ? timeFor(-tokens, this.rate) : 0);
    if (n > this.burst || wait > maxWait) return undefined;

    this.last = now;
    this.#tokens = tokens;
    this.lastEvent = time + wait - this.paused;
    return wait;
  }

  /**
   * Adds tokens, up to the burst, and returns the level's own time. Must be called before the rate or the burst
   * changes, with 0 tokens, to bring the number of tokens up to date.
   */
  add(tokens: number, time: number): number {
    const now = this.ownTime(time);
    this.#tokens = Math.min(this.tokensAt(now) + tokens, this.burst);
    return this.last = now;
  }

  /** Reports whether the level is equivalent to a new one: full and not paused, with no future grant. */
  atRest(): boolean {
    const time = this.time();
    const now = this.ownTime(time);
    return time >= this.pausedUntil && this.lastEvent <= now && this.tokensAt(now) === this.burst;
  }
}
