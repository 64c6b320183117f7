/**
 * Stand-in for `@std/async` where JSR is not reachable, with only the functions that the tests use.
 *
 * The signatures match `@std/async` 1.5.0, without the options that the tests do not use.
 */

export function delay(ms: number, options: { signal?: AbortSignal } = {}): Promise<void> {
  const { signal } = options;
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal!.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, ms);
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
  });
}

/** Rejects after `ms` milliseconds. The timer does not keep the process alive, as in the original. */
export async function deadline<T>(p: Promise<T>, ms: number): Promise<T> {
  const signal = AbortSignal.timeout(ms);
  const late = Promise.withResolvers<never>();
  const abort = () => late.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([p, late.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
