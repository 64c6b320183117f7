import { type Clock, isRealTime, systemClock, unref } from "../base/clock.ts";

/** Longest slice, in milliseconds. */
const MAX_SLICE = 10;

/** Number of steps between two reads of the clock. */
const STEPS_PER_LOOK = 64;

/**
 * Step functions of unfinished work, in the order in which the work was added. Only one slice is scheduled at a time.
 */
const unfinished: (() => boolean)[] = [];

/**
 * Calls `step` until it returns `false`. With the system clock, the calls are made in later turns of the event loop, in
 * slices of about 10 ms. With fake timers or any other clock, all calls are made immediately, because no real time
 * passes.
 *
 * @param step Does a small piece of work and reports whether there is more work. It must not throw.
 * @param clock Clock of the object to which the work belongs.
 */
export function inSlices(step: () => boolean, clock: Clock): void {
  if (!isRealTime(clock)) {
    while (step());
  } else if (unfinished.push(step) === 1) {
    setTimer();
  }
}

/** Schedules the next slice. The timer does not keep the process alive. */
function setTimer(): void {
  unref(systemClock.setTimeout(runSlice, 0));
}

function runSlice(): void {
  const endsAt = systemClock.now() + MAX_SLICE;
  for (let steps = 1; unfinished.length > 0; steps++) {
    if (steps % STEPS_PER_LOOK === 0 && systemClock.now() >= endsAt) return setTimer();
    if (!unfinished[0]!()) unfinished.shift();
  }
}
