import type { WorkRequest } from "../contracts/work_source.ts";

/** A pool's wait for an item. There is at most one wait at a time, and it can be canceled. */
export class Wait {
  readonly #wanted: () => number;
  readonly #throttle: () => WorkRequest["throttle"];
  #takeBack = new AbortController();
  #isOn = false;
  #isOver = false;

  /** Each wait requests `wanted()` items, with permits of `throttle()`. */
  constructor(wanted: () => number, throttle: () => WorkRequest["throttle"]) {
    this.#wanted = wanted;
    this.#throttle = throttle;
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  /**
   * Whether a wait found that the source has shut down. Once the source has shut down, no further wait returns an item.
   */
  get isOver(): boolean {
    return this.#isOver;
  }

  begin(): WorkRequest {
    this.#isOn = true;
    return { signal: this.#takeBack.signal, wanted: this.#wanted, throttle: this.#throttle() };
  }

  end(isShutdown = false): void {
    this.#isOn = false;
    this.#isOver ||= isShutdown;
  }

  /** Cancels the wait. An item that arrives after the cancellation is given back. */
  takeBack(): void {
    if (!this.#isOn) return;
    this.#takeBack.abort();
    this.#takeBack = new AbortController();
  }
}
