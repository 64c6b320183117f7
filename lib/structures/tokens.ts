import type { Clock } from "../base/clock.ts";

/** Time in here is counted in whole nanoseconds, as in Go: sums and comparisons of times are exact. */
const NS_PER_MS = 1e6;
const NS_PER_S = 1e9;

/** The longest duration there is, in nanoseconds: about 292 years. It stands for "never". */
export const FOREVER = 2 ** 63;

/** What a reservation was given: how many tokens, at which rate, usable from when. */
export interface Grant {
  readonly ok: boolean;
  readonly tokens: number;
  readonly rate: number;
  readonly usableAt: number;
}

const NOT_GRANTED: Grant = { ok: false, tokens: 0, rate: 0, usableAt: 0 };

/** The arithmetic of a token bucket. Its arguments are for others to check. */
export class Tokens {
  rate: number;
  burst: number;
  readonly #clock: Clock;
  /** Times are counted from here, which keeps the nanoseconds exact for 104 days. */
  readonly #origin: number;
  /** The tokens that were in the bucket at {@linkcode #last}; negative while reservations run ahead. */
  #tokens: number;
  #last = -FOREVER;
  /** The latest time at which granted tokens may be used; past or future. */
  #lastEvent = -FOREVER;

  constructor(rate: number, burst: number, clock: Clock) {
    this.rate = rate;
    this.burst = burst;
    this.#clock = clock;
    this.#origin = clock.now();
    this.#tokens = burst;
  }

  now(): number {
    return Math.round((this.#clock.now() - this.#origin) * NS_PER_MS);
  }

  /** The tokens in the bucket at a time. Time that went backwards brings none. */
  at(time: number): number {
    const elapsed = Math.max(time - this.#last, 0);
    return Math.min(this.#tokens + tokensIn(elapsed, this.rate), this.burst);
  }

  /** Brings the count up to date, which is to be done before the rate or the burst changes. */
  advance(): void {
    const now = this.now();
    this.#tokens = this.at(now);
    this.#last = now;
  }

  reserve(n: number, maxWait: number, now: number): Grant {
    if (this.rate === Infinity) return { ok: true, tokens: n, rate: 0, usableAt: now };

    const tokens = this.at(now) - n;
    const wait = tokens < 0 ? timeFor(-tokens, this.rate) : 0;
    if (n > this.burst || wait > maxWait) return NOT_GRANTED;

    this.#last = now;
    this.#tokens = tokens;
    this.#lastEvent = now + wait;
    return { ok: true, tokens: n, rate: this.rate, usableAt: this.#lastEvent };
  }

  cancel({ ok, tokens, rate, usableAt }: Grant): void {
    const now = this.now();
    if (!ok || this.rate === Infinity || tokens === 0 || usableAt < now) return;

    // What was reserved after this grant counts on its tokens being gone.
    const restored = tokens - tokensIn(this.#lastEvent - usableAt, rate);
    if (restored <= 0) return;
    this.#tokens = Math.min(this.at(now) + restored, this.burst);
    this.#last = now;

    if (usableAt === this.#lastEvent) {
      const previousEvent = usableAt + timeFor(-tokens, rate);
      if (previousEvent >= now) this.#lastEvent = previousEvent;
    }
  }
}

/** The milliseconds from a moment until a grant may be used. */
export function delayOf({ ok, usableAt }: Grant, now: number): number {
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
