/**
 * A token bucket: how often something may happen, on average and at once.
 *
 * @module
 */

import { A_CLOCK, A_SIGNAL, requireInteger, requireRules } from "../base/arguments.ts";
import { GIVE_BACK, ON_CHANGE } from "../base/brands.ts";
import { type Clock, MAX_TIMEOUT } from "../base/clock.ts";
import type { Duration } from "../base/duration.ts";
import { requireDuration } from "../base/duration_arguments.ts";
import { invalidArgument } from "../base/errors.ts";
import { formatDuration, formatNumber, setInspection } from "../base/inspection.ts";
import { steadyClock } from "../base/steady_clock.ts";
import { FOREVER, NS_PER_MS, timeFor, toDelay, tokensIn } from "./tokens.ts";
import { Waiters } from "../structures/waiters.ts";

export type { Clock } from "../base/clock.ts";
export type { Duration } from "../base/duration.ts";

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
  /** By the clock: a later pause does not move it, nor does the early end of one. */
  readonly usableAt: number;
  /** The same, by the time of the bucket, in which later grants are counted. */
  readonly event: number;
}

/**
 * Limits how often events happen.
 *
 * Imagine a bucket that holds at most `burst` tokens, is full at first, and gets `rate` tokens a second
 * until it is full again. Each event takes a token. So in the long run events happen at most `rate` times a
 * second, and after a quiet time `burst` of them may happen at once.
 *
 * There are three ways to ask, for when there is no token: `allow` says no, so that the event can be dropped;
 * `take` takes a future token and says how long to wait for it, as does `reserve`, which can give it back; `wait`
 * waits.
 *
 * A rate of `Infinity` allows everything, whatever the burst. A rate of 0 allows what is in the bucket and
 * nothing more. The algorithm, with every edge, is that of Go's
 * [`golang.org/x/time/rate`](https://pkg.go.dev/golang.org/x/time/rate).
 *
 * Unlike Go's, the bucket can be paused (`pauseFor`), for instance when a server answers with `Retry-After`.
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
  // The bucket has a time of its own, which stands still while it is paused: the clock's, less the length of all
  // pauses. Tokens come and grants are counted by it. By the clock are the end of a pause, and when granted tokens may
  // be used.
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
  /** The end of the last pause, by the clock; past or future. */
  #pausedUntil = -FOREVER;
  /** The length of all pauses, up to the end of the last one. */
  #paused = 0;
  /**
   * Calls of `wait` behind the first one; `undefined` if none waits. Each is told when the call before it was served.
   */
  #line: Waiters<number | undefined> | undefined;
  /** Who wants to hear of changes. Most buckets have nobody. */
  #listeners: Set<(isPause: boolean) => void> | undefined;

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
    requireInteger(action, "burst", burst);
    requireRules(action, options, { clock: A_CLOCK });
    this.#clock = steadyClock(options.clock);
    this.#origin = this.#clock.now();
    this.#rate = rate;
    this.#burst = burst;
    this.#tokens = burst;
    // For `onBucketChange`. No member, as bundlers would keep the class for it.
    const value = (callback: (isPause: boolean) => void) => this.#onChange(callback);
    Object.defineProperty(this, ON_CHANGE, { __proto__: null, value } as PropertyDescriptor); // inherits no `get`
    setInspection(TokenBucket.prototype, () => "TokenBucket", (bucket) => bucket.#describe());
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
   * @param interval The interval: milliseconds, or a text such as `"100ms"`. `Infinity` means never.
   * @returns The rate in events a second; `Infinity` for an interval of zero or less.
   * @throws {TypeError} If `interval` is neither a duration nor a number.
   * @throws {RangeError} If `interval` is `NaN`.
   */
  static every(interval: Duration): number {
    const ms = interval === Infinity || interval === -Infinity
      ? interval
      : requireDuration("convert interval to rate", "interval", interval);
    return ms <= 0 ? Infinity : 1000 / ms;
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
   * paused, only reservations and cancellations change them.
   */
  get tokens(): number {
    return this.#tokensAt(this.#ownTime(this.#clockTime()));
  }

  /**
   * Whether the bucket is as good as a new one: full, not paused, and with no reservation ahead of the bucket's time.
   *
   * @returns Whether it is so now.
   */
  atRest(): boolean {
    const time = this.#clockTime();
    const now = this.#ownTime(time);
    return this.#line === undefined && time >= this.#pausedUntil && this.#lastEvent <= now &&
      this.#tokensAt(now) === this.#burst;
  }

  /**
   * Takes `n` tokens if they are there now. While the bucket is paused, none are.
   *
   * @param n How many; a non-negative integer.
   * @returns Whether they were there. If not, none was taken.
   * @throws {RangeError} If `n` is out of its bounds.
   */
  allow(n = 1): boolean {
    requireInteger("take tokens", "n", n);
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
    requireInteger("reserve tokens", "n", n);
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
    if (n !== 1) requireInteger("take tokens", "n", n);
    return toDelay(this.#take(n, Infinity, this.#clockTime()) ?? FOREVER);
  }

  /**
   * Takes `n` tokens and waits until they may be used. Calls are served in order. Only the first takes tokens from the
   * future, so a call that is aborted in the line owes nothing. The first one gives its tokens back, except for those
   * that reservations made later count on.
   *
   * `setRate` and `setBurst` take effect for calls that wait.
   *
   * @param n How many; a non-negative integer.
   * @param options A signal to end the wait; the tokens are given back then.
   * @throws {RangeError} If `n` is out of its bounds or exceeds the burst, so that waiting would be in vain.
   * @throws The signal's reason, if it aborts first.
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
      signal?.throwIfAborted(); // it may have aborted just as the turn came
      grant = this.#grantInTurn(n, turn);
      for (let ms = this.#delayOf(grant); ms > 0; ms = this.#delayOf(grant)) {
        const hasChanged = await this.#sleep(Math.min(Math.ceil(ms), MAX_TIMEOUT), signal);
        // A timer may be late: tokens whose time has come are used
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
   * Pauses the bucket: gives no token until the duration has passed, not even at a rate of `Infinity`.
   *
   * Time stands still for a paused bucket: no tokens come, and afterwards it goes on with the tokens that it had.
   * Tokens reserved during the pause can be used after its end at the earliest. `allow` returns `false`, even for 0
   * tokens. Earlier grants stand: a reservation keeps its time, and the `wait` that is first in line ends when it would
   * have ended. A reservation can be cancelled during a pause, and `setRate` and `setBurst` take effect at its end.
   *
   * Pools with the bucket as `throttle` give back their tokens: none begins an attempt before the end of the pause.
   *
   * @example A server asks all clients to come back later
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
   * @param duration How long from now: milliseconds, or a text such as `"30s"`. Zero or less changes nothing. During a
   * pause, the later end wins; call {@linkcode TokenBucket.resume} first to set an earlier one.
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
   * Ends a pause now. Does nothing if there is none.
   *
   * The bucket goes on with the tokens that it had. Pools that wait for a token, and calls of `wait`, ask anew.
   * Reservations made during the pause keep their time: to use the tokens sooner, cancel and reserve again.
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
    this.#paused = time - this.#ownTime(time); // so that the bucket's time goes on from where it stands
    this.#pausedUntil = -FOREVER;
    this.#tellListeners(false);
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
    requireInteger("set burst", "burst", burst);
    this.#advance();
    if (burst === this.#burst) return;
    this.#burst = burst;
    this.#tellListeners(false);
  }

  /** Milliseconds until a pause ends; 0 if the bucket is not paused. */
  get resumesInMs(): number {
    return Math.max(this.#pausedUntil - this.#clockTime(), 0) / NS_PER_MS;
  }

  #describe(): string {
    const { resumesInMs } = this;
    const rate = this.#rate === Infinity ? "any number" : formatNumber(this.#rate);
    const tokens = `${formatNumber(this.tokens)} of ${formatNumber(this.#burst)} tokens, ${rate} a second`;
    return resumesInMs > 0 ? `${tokens}, paused for ${formatDuration(resumesInMs)}` : tokens;
  }

  #clockTime(): number {
    return Math.round((this.#clock.now() - this.#origin) * NS_PER_MS);
  }

  /** The time of the bucket at a time of the clock. */
  #ownTime(time: number): number {
    return Math.max(time, this.#pausedUntil) - this.#paused;
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

  /**
   * Takes tokens at a time of the clock, and says after how long they may be used; `undefined` if they are not granted.
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
    return wait;
  }

  /**
   * Takes the tokens of a `wait`, as of the time when the call before it was served: a timer that fires late costs no
   * tokens that a full bucket could not keep. If the bucket was used since, takes them as of now.
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
    // No token was taken. Yet Go's bucket gets them back from a cancel at the same time, once the rate is finite. A
    // pause leaves more time for that, so here it gets none.
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

  #onChange(callback: (isPause: boolean) => void): () => void {
    const listener = (isPause: boolean) => callback(isPause); // one each time, even of the same function
    this.#listeners ??= new Set();
    this.#listeners.add(listener);
    return () => void this.#listeners!.delete(listener);
  }

  /** Those that come meanwhile hear of the next change, and those that go, of none. */
  #tellListeners(isPause: boolean): void {
    for (const listener of [...this.#listeners ?? []]) if (this.#listeners!.has(listener)) listener(isPause);
  }

  /** Resolves to `false` after the delay, or to `true` as soon as the bucket changes other than by a pause. */
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
