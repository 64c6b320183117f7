/**
 * Lateness of a timer, in milliseconds. A timer that is later than this must have been delayed because the process was
 * stopped by SIGSTOP or the machine was suspended.
 */
const LATE = 100;

interface Timer {
  /** Time at which `callback` is called, as returned by `Stopwatch.now`. */
  due: number;
  readonly callback: () => void;
  /** Whether the timer was late and waits a little longer. */
  isExtended: boolean;
  handle: ReturnType<typeof setTimeout> | undefined;
}

/** Clock that can be stopped. Meanwhile, its time stands still and its timers don't fire. */
export class Stopwatch {
  readonly #timers = new Set<Timer>();
  /** Duration of all stops that have ended, in milliseconds. */
  #stoppedMs = 0;
  /** Time when the current stop began, as returned by `performance.now()`; `undefined` if the clock runs. */
  #stoppedAt: number | undefined = undefined;

  /** Whether the clock is stopped. */
  get isStopped(): boolean {
    return this.#stoppedAt !== undefined;
  }

  /** Returns the time in milliseconds since an arbitrary time, without the stops. */
  now(): number {
    return (this.#stoppedAt ?? performance.now()) - this.#stoppedMs;
  }

  /** Stops the clock. Has no effect if the clock is stopped. */
  stop(): void {
    this.#stoppedAt ??= performance.now();
    for (const { handle } of this.#timers) clearTimeout(handle);
  }

  /** Starts the clock again. Has no effect if the clock runs. */
  start(): void {
    if (this.#stoppedAt === undefined) return;
    this.#stoppedMs += performance.now() - this.#stoppedAt;
    this.#stoppedAt = undefined;
    for (const timer of this.#timers) this.#arm(timer);
  }

  /**
   * Calls `callback` when the clock has run for `ms` milliseconds. If the timer is late, waits a little longer, so that
   * pending events such as the end of a child are handled first.
   *
   * @param callback The callback.
   * @param ms The time, in milliseconds.
   * @returns The timer. Dispose the timer to cancel the call.
   */
  setTimer(callback: () => void, ms: number): Disposable {
    const timer: Timer = { due: this.now() + ms, callback, isExtended: false, handle: undefined };
    this.#timers.add(timer);
    if (!this.isStopped) this.#arm(timer);
    return { [Symbol.dispose]: () => this.#cancel(timer) };
  }

  #arm(timer: Timer): void {
    timer.handle = setTimeout(() => {
      if (this.now() - timer.due > LATE && !timer.isExtended) {
        timer.isExtended = true;
        timer.due = this.now() + LATE;
        return this.#arm(timer);
      }
      this.#cancel(timer);
      timer.callback();
    }, timer.due - this.now());
  }

  #cancel(timer: Timer): void {
    clearTimeout(timer.handle);
    this.#timers.delete(timer);
  }
}
