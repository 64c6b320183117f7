/** Stands in for `FakeTime` of `@std/testing/time` where JSR does not answer, made of `@sinonjs/fake-timers`. */

import FakeTimers from "@sinonjs/fake-timers";

const realSetTimeout = globalThis.setTimeout;

export class FakeTime implements Disposable {
  readonly #clock: ReturnType<typeof FakeTimers.install>;

  constructor(start: number | string | Date = Date.now()) {
    this.#clock = FakeTimers.install({
      now: new Date(start),
      toFake: ["Date", "setTimeout", "clearTimeout", "setInterval", "clearInterval"],
    });
  }

  get now(): number {
    return this.#clock.now;
  }

  tick(ms = 0): void {
    this.#clock.tick(ms);
  }

  async tickAsync(ms = 0): Promise<void> {
    await this.runMicrotasks();
    this.tick(ms);
  }

  next(): boolean {
    const hasTimer = this.#clock.countTimers() > 0;
    this.#clock.next();
    return hasTimer;
  }

  async nextAsync(): Promise<boolean> {
    await this.runMicrotasks();
    return this.next();
  }

  async runMicrotasks(): Promise<void> {
    await new Promise((resolve) => realSetTimeout(resolve, 0));
  }

  restore(): void {
    this.#clock.uninstall();
  }

  [Symbol.dispose](): void {
    this.restore();
  }
}
