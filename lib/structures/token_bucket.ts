/**
 * A token bucket: how often something may happen, on average and at once.
 *
 * @module
 */

import { requireInteger } from "../base/arguments.ts";
import { type Clock, MAX_TIMEOUT, systemClock } from "../base/clock.ts";
import { invalidArgument } from "../base/errors.ts";
import { delayOf, FOREVER, type Grant, Tokens } from "./tokens.ts";

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
  readonly #clock: Clock;
  readonly #tokens: Tokens;

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
    requireInteger("create token bucket", "burst", burst, 0);
    this.#clock = options.clock ?? systemClock;
    this.#tokens = new Tokens(rate, burst, this.#clock);
  }

  /** Tokens a second. */
  get rate(): number {
    return this.#tokens.rate;
  }

  /** How many tokens the bucket holds, and so how many can be asked for at once. */
  get burst(): number {
    return this.#tokens.burst;
  }

  /** The tokens in the bucket now; perhaps a fraction, and negative while reservations run ahead. */
  get tokens(): number {
    return this.#tokens.at(this.#tokens.now());
  }

  /**
   * Takes `n` tokens if they are there now.
   *
   * @param n How many; a non-negative integer.
   * @returns Whether they were there. If not, none was taken.
   * @throws {RangeError} If `n` is out of its bounds.
   */
  allow(n = 1): boolean {
    requireInteger("take tokens", "n", n, 0);
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
    requireInteger("reserve tokens", "n", n, 0);
    const grant = this.#reserve(n, FOREVER);
    const delay = () => this.#delay(grant);
    return {
      ok: grant.ok,
      get delay() {
        return delay();
      },
      cancel: () => this.#tokens.cancel(grant),
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
    requireInteger("wait for tokens", "n", n, 0);
    signal?.throwIfAborted();
    const grant = this.#reserve(n, FOREVER);
    if (!grant.ok) {
      throw invalidArgument("wait for tokens", "n", `must not exceed the burst of ${this.burst}`, n);
    }
    try {
      for (let ms = this.#delay(grant); ms > 0; ms = this.#delay(grant)) {
        await this.#sleep(Math.min(Math.ceil(ms), MAX_TIMEOUT), signal);
      }
    } catch (error) {
      this.#tokens.cancel(grant);
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
    this.#tokens.advance();
    this.#tokens.rate = rate;
  }

  /**
   * Changes how many tokens the bucket holds. Tokens beyond a smaller burst are lost; a larger one is
   * filled at the rate.
   *
   * @param burst The number of tokens: a non-negative integer.
   * @throws {RangeError} If `burst` is out of its bounds.
   */
  setBurst(burst: number): void {
    requireInteger("set burst", "burst", burst, 0);
    this.#tokens.advance();
    this.#tokens.burst = burst;
  }

  #reserve(n: number, maxWait: number): Grant {
    return this.#tokens.reserve(n, maxWait, this.#tokens.now());
  }

  #delay(grant: Grant): number {
    return delayOf(grant, this.#tokens.now());
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

function requireRate(action: string, rate: number): void {
  if (!(typeof rate === "number" && rate >= 0)) {
    throw invalidArgument(action, "rate", "must be a non-negative number", rate);
  }
}
