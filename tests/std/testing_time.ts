/**
 * Stand-in for `FakeTime` of `@std/testing/time` where JSR is not reachable, based on `@sinonjs/fake-timers`.
 *
 * The signatures match `@std/testing` 1.0.20, without the options and members that the tests do not use. The stand-in
 * replaces the same globals as the original: `Date`, the four timer functions and `AbortSignal.timeout`, but not
 * `performance.now` or `setImmediate`.
 */

import FakeTimers from "@sinonjs/fake-timers";

const realSetTimeout = globalThis.setTimeout;
const realSignalTimeout = AbortSignal.timeout;

export class FakeTime {
  #isRestored = false;
  readonly #clock: ReturnType<typeof FakeTimers.install>;

  constructor(start?: number | string | Date | null) {
    this.#clock = FakeTimers.install({
      now: new Date(start ?? Date.now()),
      toFake: ["Date", "setTimeout", "clearTimeout", "setInterval", "clearInterval"],
    });
    AbortSignal.timeout = fakeSignalTimeout;
  }

  get now(): number {
    return this.#clock.now;
  }

  set now(value: number) {
    if (value < this.now) throw new RangeError(`The time is past ${value} already: it is ${this.now}`);
    this.#clock.tick(value - this.now);
  }

  tick(ms = 0): void {
    this.now += ms;
  }

  async tickAsync(ms = 0): Promise<void> {
    await this.runMicrotasks();
    this.tick(ms);
  }

  next(): boolean {
    if (this.#clock.countTimers() === 0) return false;
    this.#clock.next();
    this.#clock.tick(0); // fires the other timers that are due at the same time
    return true;
  }

  async nextAsync(): Promise<boolean> {
    await this.runMicrotasks();
    return this.next();
  }

  async runMicrotasks(): Promise<void> {
    await new Promise((resolve) => realSetTimeout(resolve, 0));
  }

  restore(): void {
    if (this.#isRestored) throw new Error("Cannot restore time: time is already restored");
    this.#isRestored = true;
    this.#clock.uninstall();
    AbortSignal.timeout = realSignalTimeout;
  }

  [Symbol.dispose](): void {
    this.restore();
  }
}

function fakeSignalTimeout(ms: number): AbortSignal {
  const aborter = new AbortController();
  setTimeout(() => aborter.abort(new DOMException("Signal timed out.", "TimeoutError")), ms);
  return aborter.signal;
}
