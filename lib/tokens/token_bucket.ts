/**
 * Token bucket, which limits the average rate of events and the size of bursts.
 *
 * @module
 */

import { A_CLOCK, A_SIGNAL, requireInteger, requireRules } from "../base/arguments.ts";
import { ON_CHANGE, setBrand, THROTTLE } from "../base/brands.ts";
import type { Clock } from "../base/clock.ts";
import type { Duration } from "../base/duration.ts";
import { requireDuration } from "../base/duration_arguments.ts";
import { invalidArgument } from "../base/errors.ts";
import type { Permit, Throttle, ThrottleSnapshot } from "../contracts/throttle.ts";
import { cancelGrant, delayOf, type Grant, grantTokens } from "./grants.ts";
import { BucketThrottle } from "./bucket_throttle.ts";
import { setGate } from "./throttle_gate.ts";
import { setLevel, TokenLevel } from "./token_level.ts";
import { TokenLine } from "./token_line.ts";
import { FOREVER, NS_PER_MS, toDelay } from "../policy/tokens.ts";

export type { Clock } from "../base/clock.ts";
export type { Duration } from "../base/duration.ts";
export type { AttemptResult, Permit, Throttle, ThrottleSnapshot } from "../contracts/throttle.ts";

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
 * Reservation of tokens in a bucket. A class, because an object literal with a getter takes ten times as long to
 * create.
 */
class BucketReservation implements Reservation {
  readonly ok: boolean;
  readonly cancel: () => void;
  readonly #level: TokenLevel;
  readonly #grant: Grant | undefined;

  constructor(level: TokenLevel, grant: Grant | undefined) {
    this.ok = grant !== undefined;
    this.#level = level;
    this.#grant = grant;
    this.cancel = () => grant && cancelGrant(level, grant);
  }

  get delay(): number {
    return delayOf(this.#grant, this.#level.time());
  }
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
export class TokenBucket implements Throttle {
  readonly #level: TokenLevel;
  /** Calls to `wait`; `undefined` until the first one. */
  #line: TokenLine | undefined;
  /** The bucket as a throttle; `undefined` until something uses it as one. */
  #throttle: BucketThrottle | undefined;
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
    this.#level = new TokenLevel(rate, burst, options.clock);
    // For `onBucketChange`.
    setBrand(this, ON_CHANGE, (callback: (isPause: boolean) => void) => this.#listen(callback));
    setLevel(this, this.#level);
    setBrand(this, THROTTLE, () => this.#ownThrottle);
    setGate(this);
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
    return this.#level.rate;
  }

  /** Maximum number of tokens in the bucket, and in one request. */
  get burst(): number {
    return this.#level.burst;
  }

  /**
   * Tokens in the bucket now. May be a fraction. Negative while future tokens are reserved. During a pause, only
   * reservations and cancellations change the number.
   */
  get tokens(): number {
    return this.#level.tokensAt(this.#level.ownTime(this.#level.time()));
  }

  /**
   * Reports whether the bucket is equivalent to a new one: full and not paused, with no pending call to `wait` and no
   * future reservation.
   *
   * @returns Whether the bucket is at rest now.
   */
  atRest(): boolean {
    return this.#line?.isEmpty !== false && this.#level.atRest();
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
    return this.#level.take(n, 0, this.#level.time()) !== undefined;
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
    return new BucketReservation(this.#level, grantTokens(this.#level, n, this.#level.time()));
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
    return toDelay(this.#level.take(n, Infinity, this.#level.time()) ?? FOREVER);
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
    this.#line ??= new TokenLine(this.#level, (callback) => this.#listen(callback));
    await this.#line.wait(n, options.signal);
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
    const level = this.#level;
    const time = level.time();
    const until = time + Math.min(ns, FOREVER);
    const from = Math.max(time, level.pausedUntil);
    if (until <= from) return;
    level.pausedUntil = until;
    level.paused += until - from;
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
    const level = this.#level;
    const time = level.time();
    if (time >= level.pausedUntil) return;
    level.paused = time - level.ownTime(time); // the level's time continues where it stopped
    level.pausedUntil = -FOREVER;
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
    this.#change("rate", rate);
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
    this.#change("burst", burst);
  }

  /**
   * Asks for a permit to start one attempt, which takes one token, for use as a {@linkcode Throttle}. A permit takes
   * more tokens if the attempt costs more, even more than the bucket holds. Then no further permit is granted until the
   * tokens are paid back.
   *
   * @returns The permit, or the milliseconds after which to ask again. After a refusal, the next token is reserved for
   * the next call.
   */
  acquire(): Permit | number {
    return this.#ownThrottle.acquire();
  }

  /**
   * Calls `callback` after each change to the bucket's rate or burst, after each pause and its early end, and when an
   * attempt gives tokens back.
   *
   * @returns An unsubscribe function.
   */
  onChange(callback: () => void): () => void {
    return this.#ownThrottle.onChange(callback);
  }

  /**
   * Returns the state of the bucket as a throttle.
   *
   * @returns The state. A bucket doesn't limit the number of attempts that run at once.
   */
  snapshot(): ThrottleSnapshot {
    return this.#ownThrottle.snapshot();
  }

  /** Time until the pause ends, in milliseconds; 0 if the bucket is not paused. */
  get resumesInMs(): number {
    return Math.max(this.#level.pausedUntil - this.#level.time(), 0) / NS_PER_MS;
  }

  get #ownThrottle(): BucketThrottle {
    return this.#throttle ??= new BucketThrottle(this, this.#level, () => this.#tellListeners(false));
  }

  #change(member: "rate" | "burst", value: number): void {
    const level = this.#level;
    level.add(0, level.time()); // up to now, with the old value
    if (level[member] === value) return;
    level[member] = value;
    this.#tellListeners(false);
  }

  #listen(callback: (isPause: boolean) => void): () => void {
    const listener = (isPause: boolean) => callback(isPause); // unique for each call, even with the same function
    (this.#listeners ??= new Set()).add(listener);
    return () => void this.#listeners!.delete(listener);
  }

  /** Notifies all listeners, except listeners that are added or removed during the loop. */
  #tellListeners(isPause: boolean): void {
    for (const listener of [...this.#listeners ?? []]) if (this.#listeners!.has(listener)) listener(isPause);
  }
}

function requireRate(action: string, rate: number): void {
  if (!(typeof rate === "number" && rate >= 0)) {
    throw invalidArgument(action, "rate", "must be a non-negative number", rate);
  }
}
