/**
 * Lateness of a timer, in milliseconds. A timer that is later than this must have been delayed because the process was
 * stopped or the machine was suspended.
 */
const LATE = 100;

/**
 * Calls `callback` after `ms` milliseconds. If the process was stopped in the meantime, waits a little longer, so that
 * pending events such as the end of a child are handled first.
 *
 * @param callback The callback.
 * @param ms The time, in milliseconds.
 * @returns The timer. Dispose the timer to cancel the call.
 */
export function setTimer(callback: () => void, ms: number): Disposable {
  const due = performance.now() + ms;
  let timer = setTimeout(() => {
    if (performance.now() - due > LATE) timer = setTimeout(callback, LATE);
    else callback();
  }, ms);
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}
