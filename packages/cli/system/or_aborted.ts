/**
 * Waits until a promise settles or a signal aborts.
 *
 * @typeParam T Type of the promise's value.
 * @param promise The promise. After an abort, the promise's result is ignored.
 * @param signal The signal. The function removes its listener before it returns.
 * @returns The promise's value.
 * @throws {Error} The promise's error, or the signal's reason if the signal aborts first.
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
