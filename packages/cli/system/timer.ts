/** A timer that is later than this, in milliseconds, was held up, as where the process was stopped or the machine slept. */
const LATE = 100;

/**
 * Calls back after a while; where that was held up, a little later still: what has happened meanwhile, such as the end of
 * a child, is heard of first.
 *
 * @param callback The callback.
 * @param ms After how many milliseconds.
 * @returns Ends the wait.
 */
export function setTimer(callback: () => void, ms: number): Disposable {
  const due = performance.now() + ms;
  let timer = setTimeout(() => {
    if (performance.now() - due > LATE) timer = setTimeout(callback, LATE);
    else callback();
  }, ms);
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}
