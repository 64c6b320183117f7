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

/** Whether timers hold this number of milliseconds. */
export function isTimeout(ms: unknown): boolean {
  return typeof ms === "number" && ms >= 1 && ms <= MAX_TIMEOUT;
}

/** What {@linkcode isTimeout} asks, as a rule for messages. */
export const TIMEOUT_RULE: string = `must be a number from 1 to ${MAX_TIMEOUT} ms`;

/** Lets the process exit although the timer is set, on runtimes whose timers can: Deno (2.9 and later), Bun and Node. */
export function unref(handle: unknown): void {
  (handle as { unref?(): void } | undefined)?.unref?.();
}

const RealDate = globalThis.Date;

/**
 * The clock used when none is given: the runtime's monotonic clock and its timers.
 *
 * Setting the machine's wall clock does not move it. Fake timers do: they replace `globalThis.Date`, and
 * while it is replaced, this clock reads the time from there. Nothing needs to be set up for that.
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
  now: () => globalThis.Date === RealDate ? performance.now() : globalThis.Date.now(),
  // Looked up at each call, so that fake timers which came later are used.
  setTimeout: (callback, ms) => globalThis.setTimeout(callback, ms),
  clearTimeout: (handle) => globalThis.clearTimeout(handle as number),
};
