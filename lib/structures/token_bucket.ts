/**
 * A token bucket: how often something may happen, on average and at once.
 *
 * @module
 */

import { A_CLOCK, A_SIGNAL, requireInteger, requireRules } from "../base/arguments.ts";
import { GIVE_BACK, ON_CHANGE } from "../base/brands.ts";
import { type Clock, MAX_TIMEOUT, systemClock } from "../base/clock.ts";
import type { Duration } from "../base/duration.ts";
import { requireDuration } from "../base/duration_arguments.ts";
import { invalidArgument } from "../base/errors.ts";
import { formatDuration, formatNumber, setInspection } from "../base/inspection.ts";
import { FOREVER, NS_PER_MS, timeFor, toDelay, tokensIn } from "./tokens.ts";

export type { Clock } from "../base/clock.ts";
export type { Duration } from "../base/duration.ts";

/**
 * Converts the least interval between two events to a rate.
 *
 * @example Usage
 * ```ts
 * import { every, TokenBucket } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(every("100ms"), 10); // every 100 ms is 10 times a second
 * const bucket = new TokenBucket(every("100ms"), 1);
 * assertEquals(bucket.rate, 10);
 * ```
 *
 * @param interval The interval: milliseconds, or a text such as `"100ms"`. `Infinity` means never.
 * @returns The rate in events a second; `Infinity` for an interval of zero or less.
 * @throws {TypeError} If `interval` is neither a duration nor a number.
 * @throws {RangeError} If `interval` is `NaN`.
 */
export function every(interval: Duration): number {
  const ms = interval === Infinity || interval === -Infinity
    ? interval
    : requireDuration("convert interval to rate", "interval", interval);
  return ms <= 0 ? Infinity : 1000 / ms;
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
   * Gives the tokens back, except for those that later reservations already count on. Does nothing once the
   * time to use them has come. It has to be called at most once, as in Go.
   */
  cancel(): void;
}

/** What a reservation was given: how many tokens, at which rate, usable from when. */
interface Grant {
  readonly tokens: number;
  readonly rate: number;
  /** By the clock: a later hold does not move it. */
  readonly usableAt: number;
  /** The same, by the time of the bucket, in which later grants are counted. */
  readonly event: number;
}

/**
 * Limits how often events happen.
 *
 * Imagine a bucket that holds at most `burst` tokens, is full at first, and gets `rate` tokens a second
 * until it is full again. Each event takes a token. So in the long run events happen at most `rate` times a
 * second, and after a pause `burst` of them may happen at once.
 *
 * There are three ways to ask, for when there is no token: `allow` says no, so that the event can be dropped;
 * `take` takes a future token and says how long to wait for it, as does `reserve`, which can give it back; `wait`
 * waits.
 *
 * A rate of `Infinity` allows everything, whatever the burst. A rate of 0 allows what is in the bucket and
 * nothing more. The algorithm, with every edge, is that of Go's
 * [`golang.org/x/time/rate`](https://pkg.go.dev/golang.org/x/time/rate).
 *
 * Go's has no `hold`, which stops the bucket for a while, as a server asks for that answers with `Retry-After`.
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
  // The bucket has a time of its own, which stands still while it is held: the clock's, less the length of all holds.
  // Tokens come and grants are counted by it. By the clock are the end of a hold, and when granted tokens may be used.
  readonly #clock: Clock;
  /** Times are counted from here, which keeps their nanoseconds exact for 104 days. */
  readonly #origin: number;
  #rate: number;
  #burst: number;
  /** The tokens that were in the bucket at {@linkcode #last}; negative while reservations run ahead. */
  #tokens: number;
  #last = -FOREVER;
  /** The latest time at which granted tokens may be used; past or future. */
  #lastEvent = -FOREVER;
  /** The end of the last hold, by the clock; past or future. */
  #heldUntil = -FOREVER;
  /** The length of all holds, up to the end of the last one. */
  #held = 0;
  /** Who wants to hear of changes. Most buckets have nobody. */
  #listeners: Set<(isHold: boolean) => void> | undefined;

  /**
   * Makes a full bucket.
   *
   * @param rate Tokens a second: zero or more, perhaps a fraction, or `Infinity`.
   * @param burst How many tokens the bucket holds: a non-negative integer.
   * @param options Where time comes from.
   * @throws {RangeError} If `rate` or `burst` is out of its bounds.
   * @throws {TypeError} If an argument is of the wrong type, or an option unknown.
   */
  constructor(rate: number, burst: number, options: { clock?: Clock | undefined } = {}) {
    const action = "create token bucket";
    requireRate(action, rate);
    requireInteger(action, "burst", burst, 0);
    requireRules(action, options, { clock: A_CLOCK });
    this.#clock = options.clock ?? systemClock;
    this.#origin = this.#clock.now();
    this.#rate = rate;
    this.#burst = burst;
    this.#tokens = burst;
    // For `onBucketChange`. No member, as bundlers would keep the class for it.
    const value = (callback: (isHold: boolean) => void) => this.#onChange(callback);
    Object.defineProperty(this, ON_CHANGE, { __proto__: null, value } as PropertyDescriptor); // inherits no `get`
    setInspection(TokenBucket.prototype, () => "TokenBucket", (bucket) => bucket.#describe());
  }

  /** Tokens a second. */
  get rate(): number {
    return this.#rate;
  }

  /** How many tokens the bucket holds, and so how many can be asked for at once. */
  get burst(): number {
    return this.#burst;
  }

  /**
   * The tokens in the bucket now; perhaps a fraction, and negative while reservations run ahead. While the bucket is
   * held they stay as many as they are, but for those that are reserved or given back.
   */
  get tokens(): number {
    return this.#tokensAt(this.#ownTime(this.#clockTime()));
  }

  /**
   * Whether the bucket is as good as a new one: full, not held, and with nothing reserved whose time is yet to come.
   *
   * @returns Whether it is so now.
   */
  atRest(): boolean {
    const time = this.#clockTime();
    const now = this.#ownTime(time);
    return time >= this.#heldUntil && this.#lastEvent <= now && this.#tokensAt(now) === this.#burst;
  }

  /**
   * Takes `n` tokens if they are there now. While the bucket is held, none are.
   *
   * @param n How many; a non-negative integer.
   * @returns Whether they were there. If not, none was taken.
   * @throws {RangeError} If `n` is out of its bounds.
   */
  allow(n = 1): boolean {
    requireInteger("take tokens", "n", n, 0);
    return this.#take(n, 0, this.#clockTime()) !== undefined;
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
    const grant = this.#reserve(n);
    const delay = () => this.#delayOf(grant);
    const reservation = {
      ok: grant !== undefined,
      get delay() {
        return delay();
      },
      cancel: () => this.#cancel(grant),
      [GIVE_BACK]: () => this.#giveBackUnused(grant),
    };
    return reservation;
  }

  /**
   * Takes `n` tokens, from the future if need be, as {@linkcode TokenBucket.reserve} does, for good.
   *
   * @param n How many; a non-negative integer.
   * @returns How long to wait from now until the tokens may be used, in milliseconds; 0 means at once. `Infinity`
   * if they were not granted, or never come because the rate is 0.
   * @throws {RangeError} If `n` is out of its bounds.
   */
  take(n = 1): number {
    if (n !== 1) requireInteger("take tokens", "n", n, 0);
    return toDelay(this.#take(n, Infinity, this.#clockTime()) ?? FOREVER);
  }

  /**
   * Takes `n` tokens and waits until they may be used.
   *
   * @param n How many; a non-negative integer.
   * @param options A signal to end the wait; the tokens are given back then.
   * @throws {RangeError} If `n` is out of its bounds or exceeds the burst, so that waiting would be in vain.
   * @throws The signal's reason, if it aborts first.
   */
  async wait(n = 1, options: { signal?: AbortSignal | undefined } = {}): Promise<void> {
    requireInteger("wait for tokens", "n", n, 0);
    requireRules("wait for tokens", options, { signal: A_SIGNAL });
    const { signal } = options;
    signal?.throwIfAborted();
    const grant = this.#reserve(n);
    if (grant === undefined) {
      throw invalidArgument("wait for tokens", "n", `must not exceed the burst of ${this.burst}`, n);
    }
    try {
      for (let ms = this.#delayOf(grant); ms > 0; ms = this.#delayOf(grant)) {
        await this.#sleep(Math.min(Math.ceil(ms), MAX_TIMEOUT), signal);
      }
    } catch (error) {
      this.#cancel(grant);
      throw error;
    }
  }

  /**
   * Gives no token before the end of a delay, at any rate, `Infinity` among them.
   *
   * Meanwhile tokens neither come nor go: time stands still for the bucket, which then goes on with the tokens that it
   * had. What is asked for during the hold is told to wait for its end at least; `allow` says no, even to 0 tokens.
   * What was granted before stands: a reservation keeps its time, and a `wait` ends when it would have ended. A
   * reservation can be given back during a hold, and `setRate` and `setBurst` take effect at its end.
   *
   * Pools with the bucket as `starts` give back what they were granted: none begins an attempt before the end.
   *
   * @example A server asks everybody to come back later
   * ```ts
   * import { TokenBucket } from "@workqueue/core";
   * import { FakeTime } from "@std/testing/time";
   * import { assertEquals } from "@std/assert";
   *
   * using time = new FakeTime();
   * const bucket = new TokenBucket(1, 2);
   * bucket.hold("30s"); // Retry-After: 30
   *
   * assertEquals(bucket.allow(), false);
   * assertEquals([bucket.take(), bucket.take(), bucket.take()], [30_000, 30_000, 31_000]);
   * time.tick(33_000);
   * assertEquals(bucket.allow(), true);
   * ```
   *
   * @param delay How long from now: milliseconds, or a text such as `"30s"`. Zero or less changes nothing, nor does what
   * ends before a hold that is on: the later end wins.
   * @throws {TypeError} If `delay` is neither a duration nor a number.
   * @throws {RangeError} If `delay` is `NaN` or infinite.
   */
  hold(delay: Duration): void {
    const ns = Math.round(requireDuration("hold token bucket", "delay", delay) * NS_PER_MS);
    const time = this.#clockTime();
    const until = time + Math.min(ns, FOREVER);
    const from = Math.max(time, this.#heldUntil);
    if (until <= from) return;
    this.#heldUntil = until;
    this.#held += until - from;
    this.#tellListeners(true);
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
    if (rate === this.#rate) return;
    this.#rate = rate;
    this.#tellListeners(false);
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
    this.#advance();
    if (burst === this.#burst) return;
    this.#burst = burst;
    this.#tellListeners(false);
  }

  /** For how many milliseconds no token comes, as the bucket is held; 0 if it is not. */
  get heldFor(): number {
    return Math.max(this.#heldUntil - this.#clockTime(), 0) / NS_PER_MS;
  }

  #describe(): string {
    const held = this.heldFor;
    const rate = this.#rate === Infinity ? "any number" : formatNumber(this.#rate);
    const tokens = `${formatNumber(this.tokens)} of ${formatNumber(this.#burst)} tokens, ${rate} a second`;
    return held > 0 ? `${tokens}, held for ${formatDuration(held)}` : tokens;
  }

  #clockTime(): number {
    return Math.round((this.#clock.now() - this.#origin) * NS_PER_MS);
  }

  /** The time of the bucket at a time of the clock. */
  #ownTime(time: number): number {
    return Math.max(time, this.#heldUntil) - this.#held;
  }

  /** The tokens in the bucket at a time of its own. Time that went backwards brings none. */
  #tokensAt(time: number): number {
    const elapsed = Math.max(time - this.#last, 0);
    return Math.min(this.#tokens + tokensIn(elapsed, this.#rate), this.#burst);
  }

  /** Brings the count up to date, which has to be done before the rate or the burst changes. */
  #advance(): void {
    const now = this.#ownTime(this.#clockTime());
    this.#tokens = this.#tokensAt(now);
    this.#last = now;
  }

  /** Takes tokens at a time of the clock, and says after how long they may be used; `undefined` if they are not granted. */
  #take(n: number, maxWait: number, time: number): number | undefined {
    const held = Math.max(this.#heldUntil - time, 0);
    if (this.#rate === Infinity) return held > maxWait ? undefined : held;

    const now = this.#ownTime(time);
    const tokens = this.#tokensAt(now) - n;
    const wait = held + (tokens < 0 ? timeFor(-tokens, this.#rate) : 0);
    if (n > this.#burst || wait > maxWait) return undefined;

    this.#last = now;
    this.#tokens = tokens;
    this.#lastEvent = time + wait - this.#held;
    return wait;
  }

  #reserve(n: number): Grant | undefined {
    const time = this.#clockTime();
    const wait = this.#take(n, Infinity, time);
    if (wait === undefined) return undefined;
    const usableAt = time + wait;
    const event = usableAt - this.#held;
    if (this.#rate !== Infinity) return { tokens: n, rate: this.#rate, usableAt, event };
    // No token was taken. Yet Go's bucket gets them back from a cancel at the same time, once the rate is finite. A
    // hold leaves more time for that, so here it gets none.
    return { tokens: wait > 0 ? 0 : n, rate: 0, usableAt, event };
  }

  #delayOf(grant: Grant | undefined): number {
    return toDelay(grant === undefined ? FOREVER : grant.usableAt - this.#clockTime());
  }

  #cancel(grant: Grant | undefined): void {
    if (grant === undefined) return;
    const { tokens, rate, usableAt, event } = grant;
    const time = this.#clockTime();
    if (this.#rate === Infinity || tokens === 0 || usableAt < time) return;

    // What was reserved after this grant counts on its tokens being gone.
    const restored = tokens - tokensIn(this.#lastEvent - event, rate);
    if (restored <= 0) return;
    const now = this.#putBack(restored, time);
    if (event === this.#lastEvent) {
      const previousEvent = event + timeFor(-tokens, rate);
      if (previousEvent >= now) this.#lastEvent = previousEvent;
    }
  }

  /** Tokens whose time has come are there for all again, even for those who reserved some since. */
  #giveBackUnused(grant: Grant | undefined): void {
    if (grant === undefined) return;
    const time = this.#clockTime();
    if (grant.usableAt > time) this.#cancel(grant);
    else if (this.#rate !== Infinity) this.#putBack(grant.tokens, time);
  }

  /** Puts tokens into the bucket, as many as it holds. Returns the time of the bucket. */
  #putBack(tokens: number, time: number): number {
    const now = this.#ownTime(time);
    this.#tokens = Math.min(this.#tokensAt(now) + tokens, this.#burst);
    this.#last = now;
    return now;
  }

  #onChange(callback: (isHold: boolean) => void): () => void {
    const listener = (isHold: boolean) => callback(isHold); // one each time, even of the same function
    this.#listeners ??= new Set();
    this.#listeners.add(listener);
    return () => void this.#listeners!.delete(listener);
  }

  /** Those that come meanwhile hear of the next change, and those that go, of none. */
  #tellListeners(isHold: boolean): void {
    for (const listener of [...this.#listeners ?? []]) if (this.#listeners!.has(listener)) listener(isHold);
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
