/**
 * Token bucket, which limits the average rate of events and the size of bursts.
 *
 * @module
 */

import { A_CLOCK, A_SIGNAL, requireInteger, requireRules } from "../base/arguments.ts";
import { GIVE_BACK, ON_CHANGE } from "../base/brands.ts";
import { type Clock, MAX_TIMEOUT } from "../base/clock.ts";
import type { Duration } from "../base/duration.ts";
import { requireDuration } from "../base/duration_arguments.ts";
import { invalidArgument } from "../base/errors.ts";
import { steadyClock } from "../base/steady_clock.ts";
import { FOREVER, NS_PER_MS, timeFor, toDelay, tokensIn } from "./tokens.ts";
import { Waiters } from "../structures/waiters.ts";

export type { Clock } from "../base/clock.ts";
export type { Duration } from "../base/duration.ts";

/** Tokens reserved in a {@linkcode TokenBucket}. The tokens may be future tokens, which are not in the bucket yet. */
export interface Reservation {
  /** Whether the tokens were granted: `false` if more tokens were requested than the bucket can ever hold. */
  readonly ok: boolean;
  /**
   * Time from now until the tokens may be used, in milliseconds; 0 means at once. `Infinity` if the tokens were not
   * granted, or will never be available because the rate is 0.
   */
  readonly delay: number;
  /**
   * Puts the tokens back into the bucket, except the tokens that later reservations depend on. Does nothing once the
   * tokens may be used. Call this method at most once, as in Go.
   */
  cancel(): void;
}

/**
 * Tokens granted to a reservation, the rate at the time of the grant, and the time from which the tokens may be used.
 */
interface Grant {
  readonly tokens: number;
  readonly rate: number;
  /**
   * Time from which the tokens may be used, in the clock's time. Neither a later pause nor the early end of a pause
   * changes this time.
   */
  readonly usableAt: number;
  /** The value of `usableAt` in the bucket's own time, for comparison with later grants. */
  readonly event: number;
}

/**
 * Reservation of tokens in a bucket. A class, because an object literal with a getter takes ten times as long to
 * create.
 */
class BucketReservation implements Reservation {
  readonly ok: boolean;
  readonly cancel: () => void;
  readonly #delay: () => number;

  constructor(ok: boolean, delay: () => number, cancel: () => void, giveBack: () => void) {
    this.ok = ok;
    this.#delay = delay;
    this.cancel = cancel;
    (this as { [GIVE_BACK]?: () => void })[GIVE_BACK] = giveBack;
  }

  get delay(): number {
    return this.#delay();
  }
}

/** Access to private members of buckets; `undefined` until the first bucket exists. */
let access: {
  grantsOf(bucket: TokenBucket): number;
  undo(bucket: TokenBucket): void;
} | undefined;

/** Returns the number of grants so far, which identifies the latest grant. */
export function grantsOf(bucket: TokenBucket): number {
  return access!.grantsOf(bucket);
}

/** Undoes a call to `take` by putting its token back, unless `grant` is no longer the latest grant. */
export function undoTake(bucket: TokenBucket, grant: number): void {
  if (grantsOf(bucket) === grant) access!.undo(bucket);
}

/**
 * Limits how often events happen, with a token bucket.
 *
 * The bucket holds at most `burst` tokens, and is full at first. While the bucket is not full, `rate` tokens are added
 * per second. Each event takes a token. In the long run, events happen at most `rate` times per second. After a quiet
 * period, up to `burst` events may happen at once.
 *
 * Choose a method according to what should happen when no token is left:
 *
 * - `allow` returns `false`, and the event is dropped;
 * - `take` takes a future token and returns the delay until it may be used;
 * - `reserve` does the same, but the token can be put back;
 * - `wait` waits for the token.
 *
 * A rate of `Infinity` allows everything, regardless of the burst. With a rate of 0, only the tokens that are already
 * in the bucket can be used. The algorithm, including every edge case, is the same as in Go's
 * [`golang.org/x/time/rate`](https://pkg.go.dev/golang.org/x/time/rate).
 *
 * Unlike in Go, the bucket can be paused (`pauseFor`), for example when a server responds with `Retry-After`.
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
  // The bucket's own time stands still during a pause: it is the clock's time minus the length of all pauses. Tokens
  // and grants are computed in the bucket's own time. The end of a pause, and the time from which tokens may be used,
  // are stored in the clock's time.
  readonly #clock: Clock;
  /** Clock time from which all times are counted. The number of nanoseconds since this time is exact for 104 days. */
  readonly #origin: number;
  #rate: number;
  #burst: number;
  /** Number of tokens in the bucket at the time {@linkcode #last}. Negative while future tokens are reserved. */
  #tokens: number;
  #last = -FOREVER;
  /**
   * Time from which the most recently granted tokens may be used, in the bucket's own time. The time may be in the
   * past.
   */
  #lastEvent = -FOREVER;
  /** Number of grants that took tokens. */
  #grants = 0;
  /** End of the last pause, in the clock's time; in the past or in the future. */
  #pausedUntil = -FOREVER;
  /** Total length of all pauses, up to the end of the last one. */
  #paused = 0;
  /**
   * Calls to `wait` that are queued behind the first call; `undefined` if no call is pending. Each queued call's
   * promise resolves with the time from which the previous call's tokens could be used.
   */
  #line: Waiters<number | undefined> | undefined;
  /** Listeners for changes. Most buckets have no listeners. */
  #listeners: Set<(isPause: boolean) => void> | undefined;

  /**
   * Creates a full bucket.
   *
   * @param rate Tokens per second: a non-negative number, possibly a fraction or `Infinity`.
   * @param burst Maximum number of tokens in the bucket: a non-negative integer.
   * @param options A `clock`; {@linkcode systemClock} by default.
   * @throws {RangeError} If `rate` or `burst` is out of bounds.
   * @throws {TypeError} If an argument has the wrong type, or an option is unknown.
   */
  constructor(rate: number, burst: number, options: { clock?: Clock | undefined } = {}) {
    const action = "create token bucket";
    requireRate(action, rate);
    requireInteger(action, "burst", burst);
    requireRules(action, options, { clock: A_CLOCK });
    this.#clock = steadyClock(options.clock);
    this.#origin = this.#clock.now();
    this.#rate = rate;
    this.#burst = burst;
    this.#tokens = burst;
    // For `onBucketChange`. Not a class member, because bundlers would then keep the class even if nothing uses it.
    const value = (callback: (isPause: boolean) => void) => this.#onChange(callback);
    Object.defineProperty(this, ON_CHANGE, { __proto__: null, value } as PropertyDescriptor); // no inherited `get`
    access ??= {
      grantsOf: (bucket) => bucket.#grants,
      undo: (bucket) => bucket.#undo(),
    };
  }

  /**
   * Converts the shortest interval between two events to a rate, as Go's `rate.Every` does.
   *
   * @example Usage
   * ```ts
   * import { TokenBucket } from "@workqueue/core";
   * import { assertEquals } from "@std/assert";
   *
   * const bucket = new TokenBucket(TokenBucket.every("100ms"), 1);
   * assertEquals(bucket.rate, 10); // every 100 ms is 10 times a second
   * ```
   *
   * @param interval The interval: milliseconds, or a string such as `"100ms"`. `Infinity` means never.
   * @returns The rate in events per second; `Infinity` if the interval is zero or less.
   * @throws {TypeError} If `interval` is neither a duration nor a number.
   * @throws {RangeError} If `interval` is `NaN`.
   */
  static every(interval: Duration): number {
    const ms = interval === Infinity || interval === -Infinity
      ? interval
      : requireDuration("convert interval to rate", "interval", interval);
    return ms <= 0 ? Infinity : 1000 / ms;
  }

  /** Tokens added per second. */
  get rate(): number {
    return this.#rate;
  }

  /** Maximum number of tokens in the bucket, and in one request. */
  get burst(): number {
    return this.#burst;
  }

  /**
   * Tokens in the bucket now. May be a fraction. Negative while future tokens are reserved. During a pause, only
   * reservations and cancellations change the number.
   */
  get tokens(): number {
    return this.#tokensAt(this.#ownTime(this.#clockTime()));
  }

  /**
   * Reports whether the bucket is equivalent to a new one: full and not paused, with no pending call to `wait` and no
   * future reservation.
   *
   * @returns Whether the bucket is at rest now.
   */
  atRest(): boolean {
    const time = this.#clockTime();
    const now = this.#ownTime(time);
    return this.#line === undefined && time >= this.#pausedUntil && this.#lastEvent <= now &&
      this.#tokensAt(now) === this.#burst;
  }

  /**
   * Takes `n` tokens if they are in the bucket now and the bucket is not paused.
   *
   * @param n Number of tokens: a non-negative integer, 1 by default.
   * @returns Whether the tokens were taken. If not, the bucket is unchanged.
   * @throws {RangeError} If `n` is negative, fractional or not finite.
   * @throws {TypeError} If `n` is not a number.
   */
  allow(n = 1): boolean {
    requireInteger("take tokens", "n", n);
    return this.#take(n, 0, this.#clockTime()) !== undefined;
  }

  /**
   * Reserves `n` tokens, including future tokens if necessary. The reservation shows how long to wait for them.
   *
   * @param n Number of tokens: a non-negative integer, 1 by default.
   * @returns The reservation. If `n` exceeds the burst while the rate is finite, `ok` is `false` and no tokens were
   * taken.
   * @throws {RangeError} If `n` is negative, fractional or not finite.
   * @throws {TypeError} If `n` is not a number.
   */
  reserve(n = 1): Reservation {
    requireInteger("reserve tokens", "n", n);
    const grant = this.#reserve(n);
    return new BucketReservation(
      grant !== undefined,
      () => this.#delayOf(grant),
      () => this.#cancel(grant),
      () => this.#giveBackUnused(grant),
    );
  }

  /**
   * Takes `n` tokens, including future tokens if necessary. Like {@linkcode TokenBucket.reserve}, but the tokens
   * cannot be put back.
   *
   * @param n Number of tokens: a non-negative integer, 1 by default.
   * @returns Time from now until the tokens may be used, in milliseconds; 0 means at once. `Infinity` if the tokens
   * were not granted because `n` exceeds the burst, or will never be available because the rate is 0.
   * @throws {RangeError} If `n` is negative, fractional or not finite.
   * @throws {TypeError} If `n` is not a number.
   */
  take(n = 1): number {
    if (n !== 1) requireInteger("take tokens", "n", n);
    return toDelay(this.#take(n, Infinity, this.#clockTime()) ?? FOREVER);
  }

  /**
   * Takes `n` tokens and waits until they may be used. Calls are served in order. Only the first pending call takes
   * future tokens, so aborting any other call costs no tokens. Aborting the first call puts its tokens back, except the
   * tokens that later reservations depend on.
   *
   * `setRate` and `setBurst` also affect pending calls.
   *
   * @param n Number of tokens: a non-negative integer, 1 by default.
   * @param options A `signal` that ends the wait and puts the tokens back.
   * @throws {RangeError} If `n` is negative, fractional or not finite, or exceeds the burst while the rate is finite.
   * @throws {TypeError} If `n` is not a number, or an option is unknown or invalid.
   * @throws The signal's reason, if the signal aborts first.
   */
  async wait(n = 1, options: { signal?: AbortSignal | undefined } = {}): Promise<void> {
    requireInteger("wait for tokens", "n", n);
    requireRules("wait for tokens", options, { signal: A_SIGNAL });
    const { signal } = options;
    signal?.throwIfAborted();
    if (n > this.#burst && this.#rate !== Infinity) throw this.#tooMany(n);
    let turn: number | undefined;
    if (this.#line === undefined) this.#line = new Waiters();
    else turn = await this.#line.wait(signal);
    let grant: Grant | undefined;
    try {
      signal?.throwIfAborted(); // the signal may have aborted just as this call's turn came
      grant = this.#grantInTurn(n, turn);
      for (let ms = this.#delayOf(grant); ms > 0; ms = this.#delayOf(grant)) {
        const hasChanged = await this.#sleep(Math.min(Math.ceil(ms), MAX_TIMEOUT), signal);
        // If the timer is late and the tokens can already be used, keep them
        if (!hasChanged || this.#delayOf(grant) === 0) continue;
        this.#cancel(grant);
        grant = undefined;
        grant = this.#grantInTurn(n);
      }
    } catch (error) {
      this.#cancel(grant);
      grant = undefined;
      throw error;
    } finally {
      if (this.#line!.isEmpty) this.#line = undefined;
      else this.#line!.shift().resolve(grant?.usableAt);
    }
  }

  /**
   * Pauses the bucket for a duration. Tokens taken during the pause may be used only after it ends, even at a rate of
   * `Infinity`.
   *
   * Time stands still for a paused bucket: no tokens are added, and the bucket keeps its tokens. During a pause,
   * `allow` returns `false`, even for 0 tokens. Tokens granted before the pause are not affected, whether they were
   * granted to a reservation or to the first pending call to `wait`. A reservation can be canceled during a pause.
   * `setRate` and `setBurst` take effect at the end of the pause.
   *
   * Pools whose `throttle` is this bucket return their unused tokens, and don't begin an attempt before the end of the
   * pause.
   *
   * @example A server asks all clients to retry later
   * ```ts
   * import { TokenBucket } from "@workqueue/core";
   * import { FakeTime } from "@std/testing/time";
   * import { assertEquals } from "@std/assert";
   *
   * using time = new FakeTime();
   * const bucket = new TokenBucket(1, 2);
   * bucket.pauseFor("30s"); // Retry-After: 30
   *
   * assertEquals(bucket.allow(), false);
   * assertEquals([bucket.take(), bucket.take(), bucket.take()], [30_000, 30_000, 31_000]);
   * time.tick(33_000);
   * assertEquals(bucket.allow(), true);
   * ```
   *
   * @param duration Length of the pause from now: milliseconds, or a string such as `"30s"`. Zero or less has no
   * effect. If the bucket is already paused, the later end applies. To set an earlier end, call `resume` first.
   * @throws {TypeError} If `duration` is neither a duration nor a number.
   * @throws {RangeError} If `duration` is `NaN` or infinite.
   */
  pauseFor(duration: Duration): void {
    const ns = Math.round(requireDuration("pause token bucket", "duration", duration) * NS_PER_MS);
    const time = this.#clockTime();
    const until = time + Math.min(ns, FOREVER);
    const from = Math.max(time, this.#pausedUntil);
    if (until <= from) return;
    this.#pausedUntil = until;
    this.#paused += until - from;
    this.#tellListeners(true);
  }

  /**
   * Ends a pause now. Does nothing if the bucket is not paused.
   *
   * The bucket continues with the tokens that it had. Pools that wait for a token, and pending calls to `wait`, request
   * their tokens again. Reservations made during the pause are not affected. To use their tokens sooner, cancel the
   * reservations and reserve again.
   *
   * @example The server is back early
   * ```ts
   * import { TokenBucket } from "@workqueue/core";
   * import { assertEquals } from "@std/assert";
   *
   * const bucket = new TokenBucket(1, 2);
   * bucket.pauseFor("30s");
   * bucket.resume();
   * assertEquals([bucket.resumesInMs, bucket.allow()], [0, true]);
   * ```
   */
  resume(): void {
    const time = this.#clockTime();
    if (time >= this.#pausedUntil) return;
    this.#paused = time - this.#ownTime(time); // the bucket's time continues where it stopped
    this.#pausedUntil = -FOREVER;
    this.#tellListeners(false);
  }

  /**
   * Changes the rate from now on. Earlier reservations are not affected: their tokens may be used from the same time as
   * before.
   *
   * @param rate Tokens per second: a non-negative number, possibly a fraction or `Infinity`.
   * @throws {RangeError} If `rate` is negative or `NaN`.
   * @throws {TypeError} If `rate` is not a number.
   */
  setRate(rate: number): void {
    requireRate("set rate", rate);
    this.#advance();
    if (rate === this.#rate) return;
    this.#rate = rate;
    this.#tellListeners(false);
  }

  /**
   * Changes the maximum number of tokens in the bucket. If the burst is lowered, tokens in excess of the new burst are
   * lost. If the burst is raised, the bucket fills to its new capacity at its rate.
   *
   * @param burst Maximum number of tokens in the bucket: a non-negative integer.
   * @throws {RangeError} If `burst` is negative, fractional or not finite.
   * @throws {TypeError} If `burst` is not a number.
   */
  setBurst(burst: number): void {
    requireInteger("set burst", "burst", burst);
    this.#advance();
    if (burst === this.#burst) return;
    this.#burst = burst;
    this.#tellListeners(false);
  }

  /** Time until the pause ends, in milliseconds; 0 if the bucket is not paused. */
  get resumesInMs(): number {
    return Math.max(this.#pausedUntil - this.#clockTime(), 0) / NS_PER_MS;
  }

  #clockTime(): number {
    return Math.round((this.#clock.now() - this.#origin) * NS_PER_MS);
  }

  /** Converts the clock's time to the bucket's own time. */
  #ownTime(time: number): number {
    return Math.max(time, this.#pausedUntil) - this.#paused;
  }

  /**
   * Returns the number of tokens in the bucket at a given moment of the bucket's own time. If time has gone backwards,
   * no tokens are added.
   */
  #tokensAt(time: number): number {
    const elapsed = Math.max(time - this.#last, 0);
    return Math.min(this.#tokens + tokensIn(elapsed, this.#rate), this.#burst);
  }

  /** Brings the number of tokens up to date. Must be called before the rate or the burst changes. */
  #advance(): void {
    const now = this.#ownTime(this.#clockTime());
    this.#tokens = this.#tokensAt(now);
    this.#last = now;
  }

  /**
   * Takes tokens as of a given moment, in the clock's time. Returns the time until the tokens may be used, in
   * nanoseconds. Returns `undefined` and takes no tokens if that time would exceed `maxWait`, or if `n` exceeds the
   * burst while the rate is finite.
   */
  #take(n: number, maxWait: number, time: number): number | undefined {
    const pause = Math.max(this.#pausedUntil - time, 0);
    if (this.#rate === Infinity) return pause > maxWait ? undefined : pause;

    const now = this.#ownTime(time);
    const tokens = this.#tokensAt(now) - n;
    const wait = pause + (tokens < 0 ? timeFor(-tokens, this.#rate) : 0);
    if (n > this.#burst || wait > maxWait) return undefined;

    this.#last = now;
    this.#tokens = tokens;
    this.#lastEvent = time + wait - this.#paused;
    this.#grants++;
    return wait;
  }

  /**
   * Takes the tokens for a call to `wait`. If the bucket has not been used since the previous call was served, takes
   * the tokens as of the moment when that call was served. Otherwise, takes the tokens as of now. If the current time
   * were always used, tokens would be lost whenever the timer fires late and the bucket is already full.
   */
  #grantInTurn(n: number, turn = Infinity): Grant {
    const now = this.#clockTime();
    const grant = this.#reserve(n, turn < now && this.#ownTime(turn) >= this.#last ? turn : now);
    if (grant === undefined) throw this.#tooMany(n);
    return grant;
  }

  #tooMany(n: number): Error {
    return invalidArgument("wait for tokens", "n", `must not exceed the burst of ${this.burst}`, n);
  }

  #reserve(n: number, time = this.#clockTime()): Grant | undefined {
    const wait = this.#take(n, Infinity, time);
    if (wait === undefined) return undefined;
    const usableAt = time + wait;
    const event = usableAt - this.#paused;
    if (this.#rate !== Infinity) return { tokens: n, rate: this.#rate, usableAt, event };
    // At an infinite rate, no tokens are taken. Canceling at the moment of the grant nevertheless adds the tokens if
    // the rate has become finite, as in Go. However, that moment would last for the whole length of a pause, so
    // canceling a reservation that was made during a pause adds no tokens.
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

    // The tokens on which later reservations depend are not restored.
    const restored = tokens - tokensIn(this.#lastEvent - event, rate);
    if (restored <= 0) return;
    const now = this.#putBack(restored, time);
    if (event === this.#lastEvent) {
      const previousEvent = event + timeFor(-tokens, rate);
      if (previousEvent >= now) this.#lastEvent = previousEvent;
    }
  }

  /**
   * Puts unused tokens back into the bucket, even after the time from which they may be used. After that time, all of
   * the tokens are put back, even if more tokens were reserved later.
   */
  #giveBackUnused(grant: Grant | undefined): void {
    if (grant === undefined) return;
    const time = this.#clockTime();
    if (grant.usableAt > time) this.#cancel(grant);
    else if (this.#rate !== Infinity) this.#putBack(grant.tokens, time);
  }

  /** Puts the token of the latest grant back into the bucket. */
  #undo(): void {
    const usableAt = this.#lastEvent + this.#paused;
    const rate = this.#rate || Infinity; // at a rate of 0, the previous event would never come
    this.#giveBackUnused({ tokens: 1, rate, usableAt, event: this.#lastEvent });
  }

  /** Puts tokens into the bucket, up to the burst. Returns the bucket's own time. */
  #putBack(tokens: number, time: number): number {
    const now = this.#ownTime(time);
    this.#tokens = Math.min(this.#tokensAt(now) + tokens, this.#burst);
    this.#last = now;
    return now;
  }

  #onChange(callback: (isPause: boolean) => void): () => void {
    const listener = (isPause: boolean) => callback(isPause); // unique for each call, even with the same function
    this.#listeners ??= new Set();
    this.#listeners.add(listener);
    return () => void this.#listeners!.delete(listener);
  }

  /** Notifies all listeners, except listeners that are added or removed during the loop. */
  #tellListeners(isPause: boolean): void {
    for (const listener of [...this.#listeners ?? []]) if (this.#listeners!.has(listener)) listener(isPause);
  }

  /** Resolves to `false` after the delay, or to `true` as soon as the bucket changes. Pauses are ignored. */
  #sleep(ms: number, signal: AbortSignal | undefined): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const end = (isChange: boolean) => {
        unwatch();
        signal?.removeEventListener("abort", onAbort);
        resolve(isChange);
      };
      const onAbort = () => {
        unwatch();
        this.#clock.clearTimeout(timer);
        reject(signal!.reason);
      };
      const timer = this.#clock.setTimeout(() => end(false), ms);
      const unwatch = this.#onChange((isPause) => {
        if (isPause) return;
        this.#clock.clearTimeout(timer);
        end(true);
      });
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  }
}

function requireRate(action: string, rate: number): void {
  if (!(typeof rate === "number" && rate >= 0)) {
    throw invalidArgument(action, "rate", "must be a non-negative number", rate);
  }
}
