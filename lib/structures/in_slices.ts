import { type Clock, isRealTime, systemClock, unref } from "../base/clock.ts";

/** Longest slice, in milliseconds. */
const MAX_SLICE = 10;

/** Steps between two reads of the clock. */
const STEPS_PER_LOOK = 64;

/** Unfinished work, in the order in which it was added. All of it shares one slice at a time. */
const unfinished: (() => boolean)[] = [];

/**
 * Calls `step` until it returns `false`. Under the system clock, the calls are made in later turns of the event loop,
 * in slices of about 10 ms. Under any other clock no real time passes, so all of them are made now.
 *
 * @param step Does a small piece of work and reports whether there is more. It must not throw.
 * @param clock Clock of the object that the work belongs to.
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
