import { type Clock, isRealTime, systemClock, unref } from "../base/clock.ts";

/** Longest slice, in milliseconds. */
const MAX_SLICE = 10;

/** Steps between two looks at the clock. */
const STEPS_PER_LOOK = 64;

/** Work that is not finished, in the order in which it came. One slice at a time is for all of it. */
const unfinished: (() => boolean)[] = [];

/**
 * Calls `step` until it returns `false`. Under the system clock, the calls are made in later turns of the event loop,
 * in slices of about 10 ms. Under any other clock no real time passes, so all of them are made now.
 *
 * @param step Does a small piece of work, and returns whether there is more. It must not throw.
 * @param clock The clock of the object that the work is for.
 */
export function inSlices(step: () => boolean, clock: Clock): void {
  if (!isRealTime(clock)) {
    while (step());
  } else if (unfinished.push(step) === 1) {
    setTimer();
  }
}

/** The timer keeps no process alive. */
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
