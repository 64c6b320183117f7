/**
 * Where time comes from.
 *
 * Every queue and limiter takes a {@linkcode Clock}, so that a test can stand in for time; without one
 * they use {@linkcode systemClock}.
 *
 * @module
 */

/**
 * A source of time and timers.
 *
 * If a method throws, or `now` returns no finite number, it is called once more. If that fails too, the latest time is
 * used, or a timer of the system's clock. The first such failure is written to `console.error`.
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
  /** The time in milliseconds since some fixed moment. May have a fraction; should never go backwards. */
  now(): number;
  /** Calls `callback` once, after `ms` milliseconds, and returns a handle for {@linkcode Clock.clearTimeout}. */
  setTimeout(callback: () => void, ms: number): unknown;
  /** Stops the timer with that handle, if it has not fired yet. */
  clearTimeout(handle: unknown): void;
}

/** The longest delay that a runtime's timers hold, in milliseconds: a longer one fires at once. */
export const MAX_TIMEOUT = 2 ** 31 - 1;

/**
 * Lets the process exit although the timer is set, on runtimes whose timers can: Deno (2.9 and later), Bun and Node.
 */
export function unref(handle: unknown): void {
  (handle as { unref?(): void } | undefined)?.unref?.();
}

/**
 * The runtime's own globals, as they were when this module was loaded: fake timers that came later leave them alone.
 */
const runtime = { Date, setTimeout, clearTimeout, wallClock: /* @__PURE__ */ Date.now.bind(Date) };

/** The runtime's monotonic clock, whatever fake timers say. */
const monotonicNow: () => number = /* @__PURE__ */ performance.now.bind(performance);

/**
 * Fake timers begin with the time of day unless they are told another one. So fake time that is up to a day ahead of
 * the wall clock when it is seen for the first time has been moved on before, and that time has passed.
 */
const MAX_AHEAD = 24 * 3_600_000;

/** The `Date` of the fake timers that time comes from, as of the last look; `undefined` while that is the runtime. */
let fakeDate: DateConstructor | undefined;
/** What is added to the time of the runtime or of the fake timers, so that no change between them moves the clock. */
let offset = 0;
/** The latest fake time. Other fake timers may be behind it. */
let latest = 0;
/** The timers that are set and have not fired: they move along to the fake timers and back. */
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

  /** Counts down what is left with the timers that there are now. */
  restart(now: number): void {
    try {
      this.#clear();
    } catch {
      // Fake timers that are gone refuse to be called. Nothing fires there any more.
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
    // Apart, as browsers refuse another `this`
    const { setTimeout, clearTimeout } = fakeDate === undefined ? runtime : globalThis;
    const handle = setTimeout(() => this.#fire(), ms);
    this.#handle = handle;
    this.#clear = () => clearTimeout(handle);
    if (!this.#keepsAlive) unref(handle);
  }

  #fire(): void {
    if (followGlobals()) return; // time is another one now, in which this timer may not be due: it was restarted
    timers.delete(this);
    this.#callback();
  }
}

/** Whether there may be fake timers that the system clock follows, or has followed. */
function isTimeFaked(): boolean {
  return globalThis.Date !== runtime.Date || fakeDate !== undefined;
}

function currentTime(): number {
  return offset + (fakeDate === undefined ? monotonicNow() : fakeDate.now());
}

/** Goes over to fake timers, back to the runtime, or to other fake timers, if need be. Tells whether it did. */
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
  if (areFaked) offset = Math.ceil(offset); // fake time is in whole milliseconds, of which sums are exact
  latest = currentTime();
  for (const timer of timers) timer.restart(latest);
  return true;
}

/**
 * How far fake timers have been moved on that are seen for the first time. Rounded up, as both times are rounded down.
 */
function aheadOfWallClock(): number {
  const ahead = globalThis.Date.now() - runtime.wallClock();
  return ahead > 0 && ahead <= MAX_AHEAD ? ahead + 1 : 0;
}

/**
 * The clock used when none is given: the runtime's monotonic clock and its timers.
 *
 * Setting the machine's wall clock does not move it. Fake timers do: while both `globalThis.Date` and
 * `globalThis.setTimeout` are replaced, this clock takes time and timers from there. Nothing needs to be set up for
 * that. It never jumps back, neither as fake timers come nor as they go, and timers that are set move along.
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
    if (isTimeFaked()) followGlobals();
    return currentTime();
  },
  setTimeout(callback, ms) {
    followGlobals();
    return new SystemTimer(callback, currentTime() + ms, ms);
  },
  clearTimeout(handle) {
    followGlobals();
    (handle as SystemTimer | undefined)?.stop();
  },
};

/**
 * Reports whether time passes by itself under a clock. Under one that a test or a simulation moves, it does not. Fake
 * timers count only while they are in place: the system clock may not have been looked at since they went.
 */
export function isRealTime(clock: Clock): boolean {
  return clock === systemClock && globalThis.Date === runtime.Date;
}
