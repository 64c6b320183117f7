import { systemClock, wallClock } from "../base/clock.ts";
import type { Lease, WorkQueue } from "../contracts/work_queue.ts";
import { MAX_BURST, nextTask, TURNS_PER_PAUSE } from "../structures/burst.ts";

/**
 * Iterates over a queue's items. Each item is processing until the next one is requested or the loop ends.
 *
 * The generator yields leases, not items: if an item is a promise, `yield` would await the promise and return its value
 * instead.
 */
export function iterateItems<T>(queue: WorkQueue<T>): AsyncIterator<T, void, void> {
  const leases = iterateLeases(queue);
  return {
    next: () => leases.next().then((next) => next.done ? next : { done: false, value: next.value.item }),
    return: () => leases.return() as Promise<IteratorReturnResult<void>>,
  };
}

/** Iterates over a queue's leases. Each lease ends when the next one is requested or the loop ends. */
async function* iterateLeases<T>(queue: WorkQueue<T>): AsyncGenerator<Lease<T>, void, void> {
  const { clock = systemClock } = queue;
  let pausedAt = wallClock();
  while (true) {
    // A pause depends on real time, so there are no pauses with a user-defined clock.
    if (clock === systemClock && Math.abs(wallClock() - pausedAt) >= MAX_BURST) pausedAt = await pause();
    const lease = await queue.get();
    if (lease.shutdown) return;
    try {
      yield lease;
    } finally {
      lease[Symbol.dispose]();
    }
  }
}

/**
 * Lets timers and I/O run for up to about a millisecond, and returns the time. Without pauses, a loop body that awaits
 * only promises would block timers and I/O.
 */
async function pause(): Promise<number> {
  const now = wallClock();
  let turns = 0;
  do await new Promise<void>(nextTask); while (++turns < TURNS_PER_PAUSE && wallClock() === now);
  return wallClock();
}
