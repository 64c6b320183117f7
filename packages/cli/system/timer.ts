/** Delay of a timer, in milliseconds, beyond which the process must have been stopped or the machine suspended. */
const LATE = 100;

/**
 * Calls `callback` after a time. After the process was stopped, it waits a little longer, so that events from
 * meanwhile, such as the end of a child, come first.
 *
 * @param callback The callback.
 * @param ms The time, in milliseconds.
 * @returns Cancels the timer.
 */
export function setTimer(callback: () => void, ms: number): Disposable {
  const due = performance.now() + ms;
  let timer = setTimeout(() => {
    if (performance.now() - due > LATE) timer = setTimeout(callback, LATE);
    else callback();
  }, ms);
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}
