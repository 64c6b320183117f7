/**
 * Waits for a promise, unless a signal aborts before.
 *
 * @typeParam T What the promise gives.
 * @param promise The promise. What becomes of it after an abort is ignored.
 * @param signal The signal. Nothing of the wait stays with it.
 * @returns What the promise gives.
 * @throws {Error} What the promise rejects with, or the signal's reason if that aborts before.
 */
export async function orAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let stop!: () => void;
  const aborted = new Promise<never>((_resolve, reject) => stop = () => reject(signal.reason));
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}
