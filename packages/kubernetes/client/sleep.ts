import { type Clock, systemClock } from "@workqueue/core";

/** Waits for some milliseconds. Rejects with the signal's reason as soon as it aborts. */
export function sleep(ms: number, signal: AbortSignal, clock: Clock = systemClock): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const end = () => {
      clock.clearTimeout(timer);
      signal.removeEventListener("abort", end);
      if (signal.aborted) reject(signal.reason);
      else resolve();
    };
    const timer = clock.setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}
