/**
 * Sources of time and timers.
 *
 * Every queue, limiter, bucket and pool accepts a {@linkcode Clock}, so that tests can control time. The default is
 * {@linkcode systemClock}.
 *
 * @module
 */

/**
 * Source of time and timers.
 *
 * A clock is checked when a queue, limiter, bucket or pool is created: the methods must exist, and `now` must return a
 * finite number. What happens if a method throws later is undefined, but no item is lost.
 *
 * @example A clock that a test moves by hand
 * ```ts
 * import { type Clock, createBucketLimiter } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * let now = 0;
 * const clock: Clock = { now: () => now, setTimeout: () => 0, clearTimeout: () => {} };
 * const limiter = createBucketLimiter({ rate: 10, burst: 1, clock });
 *
 * assertEquals(limiter.when("a"), 0);
 * assertEquals(limiter.when("b"), 100);
 * now = 200;
 * assertEquals(limiter.when("c"), 0);
 * ```
 */
export interface Clock {
  /**
   * Returns the time in milliseconds since a fixed moment. The time may have a fraction and should never go backwards.
   */
  now(): number;
  /** Calls `callback` once, after `ms` milliseconds. Returns a handle for {@linkcode Clock.clearTimeout}. */
  setTimeout(callback: () => void, ms: number): unknown;
  /** Stops the timer with this handle if it has not fired yet. */
  clearTimeout(handle: unknown): void;
}

/** Longest delay that a runtime's timers support, in milliseconds. A timer with a longer delay fires at once. */
export const MAX_TIMEOUT = 2 ** 31 - 1;

/**
 * Lets the process exit while the timer is set, on runtimes whose timers support it: Deno (2.9 and later), Bun and
 * Node.
 */
export function unref(handle: unknown): void {
  (handle as { unref?(): void } | undefined)?.unref?.();
}

/**
 * The runtime's own globals, saved when this module is loaded. Fake timers that are installed later don't replace the
 * saved globals.
 */
const runtime = { Date, setTimeout, clearTimeout };

/**
 * Returns the time of the runtime's wall clock, in milliseconds; fake timers don't affect it. `Date.now` takes half as
 * long as `performance.now` on Deno, but goes back if the wall clock is set to an earlier time.
 */
export const wallClock: () => number = Date.now;

/** The runtime's monotonic clock. Fake timers don't affect this clock. */
const monotonicNow: () => number = /* @__PURE__ */ performance.now.bind(performance);

/**
 * Fake timers start at the current time unless a test sets another start time. If new fake timers are ahead of the wall
 * clock by at most this many milliseconds, the clock assumes that the test has already moved time forward.
 */
const MAX_AHEAD = 24 * 3_600_000;

/** Fake `Date` that the clock used in its latest call; `undefined` if that call used the runtime's time. */
let fakeDate: DateConstructor | undefined;
/** Offset added to the runtime's time or the fake time, so that a switch between the two doesn't move the clock. */
let offset = 0;
/** Latest fake time. Fake timers that are installed later may start at an earlier time. */
let latest = 0;
/** Pending timers, which are restarted when fake timers are installed or removed. */
const timers = /* @__PURE__ */ new Set<SystemTimer>();

class SystemTimer {
  readonly #callback: () => void;
  readonly #dueAt: number;
  #keepsAlive = true;
  #handle: unknown;
  #clear!: () => void;

  constructor(callback: () => void, dueAt: number, ms: number) {
    this.#callback = callback;
    this.#dueAt = dueAt;
    timers.add(this);
    this.#start(ms);
  }

  /** Restarts the timer with the remaining time, using the timers that are installed now. */
  restart(now: number): void {
    try {
      this.#clear();
    } catch {
      // Fake timers that were removed may throw here. Such timers no longer fire, so the error doesn't matter.
    }
    this.#start(Math.max(Math.ceil(this.#dueAt - now), 0));
  }

  stop(): void {
    timers.delete(this);
    this.#clear();
  }

  unref(): void {
    this.#keepsAlive = false;
    unref(this.#handle);
  }

  #start(ms: number): void {
    // Calls the functions without an object, because browsers throw if `this` is an object other than the global one.
    const { setTimeout, clearTimeout } = fakeDate === undefined ? runtime : globalThis;
    const handle = setTimeout(() => {
      if (followGlobals()) return; // the source of time changed: the timer was restarted, and might not be due yet
      timers.delete(this);
      this.#callback();
    }, ms);
    this.#handle = handle;
    this.#clear = () => clearTimeout(handle);
    if (!this.#keepsAlive) unref(handle);
  }
}

function currentTime(): number {
  return offset + (fakeDate === undefined ? monotonicNow() : fakeDate.now());
}

/**
 * If the globals have changed, switches to fake timers, to other fake timers, or back to the runtime. If fake time went
 * backwards, adjusts the offset. Reports whether anything changed.
 */
function followGlobals(): boolean {
  const areFaked = globalThis.Date !== runtime.Date && globalThis.setTimeout !== runtime.setTimeout;
  const date = areFaked ? globalThis.Date : undefined;
  if (date === fakeDate) {
    if (date === undefined) return false;
    const now = currentTime();
    if (now >= latest) {
      latest = now;
      return false;
    }
  }
  const now = fakeDate === undefined ? currentTime() + aheadOfWallClock() : latest;
  fakeDate = date;
  offset = 0;
  offset = now - currentTime();
  if (areFaked) offset = Math.ceil(offset); // fake time is in whole milliseconds, so sums with this offset are exact
  latest = currentTime();
  for (const timer of timers) timer.restart(latest);
  return true;
}

/**
 * Returns how far fake timers were moved forward before this clock detected them, in milliseconds. Rounds up, because
 * both times are rounded down.
 */
function aheadOfWallClock(): number {
  const ahead = globalThis.Date.now() - wallClock();
  return ahead > 0 && ahead <= MAX_AHEAD ? ahead + 1 : 0;
}

/**
 * Default clock: the runtime's monotonic clock and its timers.
 *
 * Setting the machine's wall clock doesn't affect this clock. Fake timers do affect this clock: while both
 * `globalThis.Date` and `globalThis.setTimeout` are replaced, the clock uses the replacements. No setup is needed. When
 * fake timers are installed or removed, the clock doesn't go backwards, and pending timers keep their remaining time.
 *
 * @example Usage
 * ```ts
 * import { systemClock } from "@workqueue/core";
 * import { FakeTime } from "@std/testing/time";
 * import { assertEquals } from "@std/assert";
 *
 * using time = new FakeTime();
 * const before = systemClock.now();
 * time.tick(1500);
 * assertEquals(systemClock.now() - before, 1500);
 * ```
 */
export const systemClock: Clock = {
  now() {
    if (globalThis.Date === runtime.Date && fakeDate === undefined) return offset + monotonicNow();
    followGlobals();
    return currentTime();
  },
  setTimeout(callback, ms) {
    return new SystemTimer(callback, systemClock.now() + ms, ms);
  },
  clearTimeout(handle) {
    followGlobals();
    (handle as SystemTimer | undefined)?.stop();
  },
};

/**
 * Reports whether a clock runs in real time. Only the system clock runs in real time, and only while `globalThis.Date`
 * is not replaced. Tests and simulations move other clocks by hand. Reads `globalThis.Date` directly, because the
 * system clock might not have been called since fake timers were removed.
 */
export function isRealTime(clock: Clock): boolean {
  return clock === systemClock && globalThis.Date === runtime.Date;
}
