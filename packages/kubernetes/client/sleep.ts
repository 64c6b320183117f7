import { systemClock } from "@workqueue/core";

/** Waits for some milliseconds. Rejects with the signal's reason as soon as it aborts. */
export function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const end = () => {
      systemClock.clearTimeout(timer);
      signal.removeEventListener("abort", end);
      if (signal.aborted) reject(signal.reason);
      else resolve();
    };
    const timer = systemClock.setTimeout(end, ms);
    signal.addEventListener("abort", end);
  });
}
