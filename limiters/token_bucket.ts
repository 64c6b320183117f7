/**
 * A token bucket: how often something may happen, on average and at once.
 *
 * @module
 */

import { type Clock, MAX_TIMEOUT, systemClock } from "../lib/clock.ts";
import { invalidArgument } from "../lib/errors.ts";

/** Time in here is counted in whole nanoseconds, as in Go: sums and comparisons of times are exact. */
const NS_PER_MS = 1e6;
const NS_PER_S = 1e9;

/** The longest duration there is, in nanoseconds: about 292 years. It stands for "never". */
const FOREVER = 2 ** 63;

/**
 * Converts the least interval between two events to a rate.
 *
 * @example Usage
 * ```ts
 * import { every, TokenBucket } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(every(100), 10); // every 100 ms is 10 times a second
 * const bucket = new TokenBucket(every(100), 1);
 * assertEquals(bucket.rate, 10);
 * ```
 *
 * @param intervalMs The interval in milliseconds.
 * @returns The rate in events a second; `Infinity` for an interval of zero or less.
 * @throws {RangeError} If `intervalMs` is `NaN`.
 */
export function every(intervalMs: number): number {
  if (typeof intervalMs !== "number" || Number.isNaN(intervalMs)) {
    throw invalidArgument("convert interval to rate", "intervalMs", "must be a number of milliseconds", intervalMs);
  }
  return intervalMs <= 0 ? Infinity : 1000 / intervalMs;
}

/** Tokens taken from a {@linkcode TokenBucket}, perhaps from its future. */
export interface Reservation {
  /** Whether the tokens were granted. They are not when more are asked for than the bucket can ever hold. */
  readonly ok: boolean;
  /**
   * How long to wait from now until the tokens may be used, in milliseconds; 0 means at once. `Infinity`
   * if they were not granted, or never come because the rate is 0.
   */
  readonly delay: number;
  /**
   * Gives the tokens back, as far as they are not spoken for: those that later reservations already count
   * on stay taken. Does nothing once the time to use them has come. To be called once, as Go's.
   */
  cancel(): void;
}

/** As `bucket.reserve().delay`, with one look at the clock and nothing made that could be cancelled. */
export let reserveOne: (bucket: TokenBucket) => number;

/**
 * Limits how often events happen.
 *
 * Imagine a bucket that holds at most `burst` tokens, is full at first, and gets `rate` tokens a second
 * until it is full again. Each event takes a token. So in the long run events happen at most `rate` times a
 * second, and after a pause `burst` of them may happen at once.
 *
 * There are three ways to ask, for when there is no token: `allow` says no, so the event can be dropped;
 * `reserve` takes a future token and says how long to wait for it; `wait` waits.
 *
 * A rate of `Infinity` allows everything, whatever the burst. A rate of 0 allows what is in the bucket and
 * nothing more. The algorithm, with every edge, is that of Go's
 * [`golang.org/x/time/rate`](https://pkg.go.dev/golang.org/x/time/rate).
 *
 * @example Usage
 * ```ts
 * import { TokenBucket } from "@workqueue/core";
 * import { FakeTime } from "@std/testing/time";
 * import { assertEquals } from "@std/assert";
 *
 * using time = new FakeTime();
 * const bucket = new TokenBucket(10, 2); // 10 a second, 2 at once
 *
 * assertEquals([bucket.allow(), bucket.allow(), bucket.allow()], [true, true, false]);
 * time.tick(100);
 * assertEquals(bucket.allow(), true);
 * ```
 */
export class TokenBucket {
  static {
    reserveOne = (bucket) => {
      const now = bucket.#now();
      return delayBetween(now, bucket.#reserve(1, FOREVER, now));
    };
  }

  readonly #clock: Clock;
  /** Times are counted from here, which keeps the nanoseconds exact for 104 days. */
  readonly #origin: number;
  #rate: number;
  #burst: number;
  /** The tokens that were in the bucket at {@linkcode #last}; negative while reservations run ahead. */
  #tokens: number;
  #last = -FOREVER;
  /** The latest time at which granted tokens may be used; past or future. */
  #lastEvent = -FOREVER;

  /**
   * Makes a full bucket.
   *
   * @param rate Tokens a second: zero or more, perhaps a fraction, or `Infinity`.
   * @param burst How many tokens the bucket holds: a non-negative integer.
   * @param options Where time comes from.
   * @throws {RangeError} If `rate` or `burst` is out of its bounds.
   */
  constructor(rate: number, burst: number, options: { clock?: Clock | undefined } = {}) {
    requireRate("create token bucket", rate);
    requireCount("create token bucket", "burst", burst);
    this.#clock = options.clock ?? systemClock;
    this.#origin = this.#clock.now();
    this.#rate = rate;
    this.#burst = burst;
    this.#tokens = burst;
  }

  /** Tokens a second. */
  get rate(): number {
    return this.#rate;
  }

  /** How many tokens the bucket holds, and so how many can be asked for at once. */
  get burst(): number {
    return this.#burst;
  }

  /** The tokens in the bucket now; perhaps a fraction, and negative while reservations run ahead. */
  get tokens(): number {
    return this.#tokensAt(this.#now());
  }

  /**
   * Takes `n` tokens if they are there now.
   *
   * @param n How many; a non-negative integer.
   * @returns Whether they were there. If not, none was taken.
   * @throws {RangeError} If `n` is out of its bounds.
   */
  allow(n = 1): boolean {
    requireCount("take tokens", "n", n);
    return this.#reserve(n, 0).ok;
  }

  /**
   * Takes `n` tokens, from the future if need be, and says how long to wait for them.
   *
   * @param n How many; a non-negative integer.
   * @returns The reservation. It is not `ok` if `n` exceeds the burst; nothing was taken then.
   * @throws {RangeError} If `n` is out of its bounds.
   */
  reserve(n = 1): Reservation {
    requireCount("reserve tokens", "n", n);
    const grant = this.#reserve(n, FOREVER);
    const delay = () => this.#delay(grant);
    return {
      ok: grant.ok,
      get delay() {
        return delay();
      },
      cancel: () => this.#cancel(grant),
    };
  }

  /**
   * Takes `n` tokens and waits until they may be used.
   *
   * @param n How many; a non-negative integer.
   * @param options A signal to end the wait; the tokens are given back then.
   * @throws {RangeError} If `n` is out of its bounds or exceeds the burst, so that waiting would be in vain.
   * @throws The signal's reason, if it aborts first.
   */
  async wait(n = 1, { signal }: { signal?: AbortSignal | undefined } = {}): Promise<void> {
    requireCount("wait for tokens", "n", n);
    signal?.throwIfAborted();
    const grant = this.#reserve(n, FOREVER);
    if (!grant.ok) {
      throw invalidArgument("wait for tokens", "n", `must not exceed the burst of ${this.#burst}`, n);
    }
    try {
      for (let ms = this.#delay(grant); ms > 0; ms = this.#delay(grant)) {
        await this.#sleep(Math.min(Math.ceil(ms), MAX_TIMEOUT), signal);
      }
    } catch (error) {
      this.#cancel(grant);
      throw error;
    }
  }

  /**
   * Changes the rate from now on. Reservations made before keep the time they were given.
   *
   * @param rate Tokens a second: zero or more, perhaps a fraction, or `Infinity`.
   * @throws {RangeError} If `rate` is out of its bounds.
   */
  setRate(rate: number): void {
    requireRate("set rate", rate);
    this.#advance();
    this.#rate = rate;
  }

  /**
   * Changes how many tokens the bucket holds. Tokens beyond a smaller burst are lost; a larger one is
   * filled at the rate.
   *
   * @param burst The number of tokens: a non-negative integer.
   * @throws {RangeError} If `burst` is out of its bounds.
   */
  setBurst(burst: number): void {
    requireCount("set burst", "burst", burst);
    this.#advance();
    this.#burst = burst;
  }

  #now(): number {
    return Math.round((this.#clock.now() - this.#origin) * NS_PER_MS);
  }

  #advance(): void {
    const now = this.#now();
    this.#tokens = this.#tokensAt(now);
    this.#last = now;
  }

  /** The tokens in the bucket at a time. Time that went backwards brings none. */
  #tokensAt(time: number): number {
    const elapsed = Math.max(time - this.#last, 0);
    return Math.min(this.#tokens + tokensIn(elapsed, this.#rate), this.#burst);
  }

  #reserve(n: number, maxWait: number, now = this.#now()): Grant {
    if (this.#rate === Infinity) return { ok: true, tokens: n, rate: 0, usableAt: now };

    const tokens = this.#tokensAt(now) - n;
    const wait = tokens < 0 ? timeFor(-tokens, this.#rate) : 0;
    if (n > this.#burst || wait > maxWait) return NOT_GRANTED;

    this.#last = now;
    this.#tokens = tokens;
    this.#lastEvent = now + wait;
    return { ok: true, tokens: n, rate: this.#rate, usableAt: this.#lastEvent };
  }

  #delay(grant: Grant): number {
    return delayBetween(this.#now(), grant);
  }

  #cancel({ ok, tokens, rate, usableAt }: Grant): void {
    const now = this.#now();
    if (!ok || this.#rate === Infinity || tokens === 0 || usableAt < now) return;

    // What was reserved after this grant counts on its tokens being gone.
    const restored = tokens - tokensIn(this.#lastEvent - usableAt, rate);
    if (restored <= 0) return;
    this.#tokens = Math.min(this.#tokensAt(now) + restored, this.#burst);
    this.#last = now;

    if (usableAt === this.#lastEvent) {
      const previousEvent = usableAt + timeFor(-tokens, rate);
      if (previousEvent >= now) this.#lastEvent = previousEvent;
    }
  }

  #sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.#clock.clearTimeout(timer);
        reject(signal!.reason);
      };
      const timer = this.#clock.setTimeout(() => {
        signal?.removeEventListener("abort", onAbort);
        resolve();
      }, ms);
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }
}

/** What a reservation was given: how many tokens, at which rate, usable from when. */
interface Grant {
  readonly ok: boolean;
  readonly tokens: number;
  readonly rate: number;
  readonly usableAt: number;
}

const NOT_GRANTED: Grant = { ok: false, tokens: 0, rate: 0, usableAt: 0 };

/** The milliseconds from a moment until a grant may be used. */
function delayBetween(now: number, { ok, usableAt }: Grant): number {
  const wait = usableAt - now;
  if (!ok || wait >= FOREVER / 2) return Infinity; // half, as adding the time of day to it is not exact
  return Math.max(wait, 0) / NS_PER_MS;
}

/** The tokens that come in a number of nanoseconds. */
function tokensIn(ns: number, rate: number): number {
  const whole = Math.trunc(ns / NS_PER_S);
  const seconds = whole === 0 ? ns / NS_PER_S : whole + ns % NS_PER_S / NS_PER_S; // rounded as Go rounds it
  return seconds * Math.min(rate, Number.MAX_VALUE); // as no time at an infinite rate would be NaN
}

/** The whole nanoseconds in which a number of tokens comes. */
function timeFor(tokens: number, rate: number): number {
  return rate === 0 ? FOREVER : Math.min(Math.trunc(tokens / rate * NS_PER_S), FOREVER);
}

function requireRate(action: string, rate: number): void {
  if (!(typeof rate === "number" && rate >= 0)) {
    throw invalidArgument(action, "rate", "must be a non-negative number", rate);
  }
}

function requireCount(action: string, option: string, value: number): void {
  if (!Number.isSafeInteger(value) || value < 0) {
    throw invalidArgument(action, option, "must be a non-negative integer", value);
  }
}
