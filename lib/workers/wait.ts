import type { TokenSource } from "../contracts/token_source.ts";
import type { WorkRequest } from "../contracts/work_source.ts";

/** The wait of a pool for an item: there is one at a time, which can be taken back. */
export class Wait {
  readonly #wanted: () => number;
  readonly #throttle: () => TokenSource | undefined;
  #takeBack = new AbortController();
  #isOn = false;
  #isOver = false;

  /** Each wait is for as many items as are `wanted`, with tokens of `throttle`. */
  constructor(wanted: () => number, throttle: () => TokenSource | undefined) {
    this.#wanted = wanted;
    this.#throttle = throttle;
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  /** Whether a wait has told that the source has shut down. No wait brings an item then. */
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

  /** An item that comes all the same is given back. */
  takeBack(): void {
    if (!this.#isOn) return;
    this.#takeBack.abort();
    this.#takeBack = new AbortController();
  }
}
