import { systemClock } from "@workqueue/core";

/**
 * Duration of a slice, in milliseconds. A slice blocks the event loop. Handlers of a pool may start right after a slice
 * and run for up to 10 ms before timers have a turn, so that a slice and these handlers together take less than 15 ms.
 */
const MAX_SLICE = 4;

/** Work that is done in small steps, each of which takes only microseconds. Its result is the returned value. */
export type Steps<Result> = Generator<void, Result>;

/**
 * Does work in slices, so that timers and I/O have turns in between. If the work takes no longer than one slice, it is
 * done at once, and the result is not a promise.
 */
export function inSlices<Result>(steps: Steps<Result>): Result | Promise<Result> {
  const step = slice(steps);
  return step.done ? step.value : remaining(steps);
}

/** Lets timers and I/O have a turn if the slice that began at `beganAt` is over. Returns when the next slice began. */
export async function nextSlice(beganAt: number): Promise<number> {
  if (systemClock.now() - beganAt < MAX_SLICE) return beganAt;
  await turn();
  return systemClock.now();
}

function turn(): Promise<void> {
  return new Promise((resolve) => systemClock.setTimeout(resolve, 0));
}

async function remaining<Result>(steps: Steps<Result>): Promise<Result> {
  for (;;) {
    await turn();
    const step = slice(steps);
    if (step.done) return step.value;
  }
}

/** Does the steps of one slice. Returns the result of the last step. */
function slice<Result>(steps: Steps<Result>): IteratorResult<void, Result> {
  const endsAt = systemClock.now() + MAX_SLICE;
  for (;;) {
    const step = steps.next();
    if (step.done || systemClock.now() >= endsAt) return step;
  }
}
