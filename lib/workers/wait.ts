import type { TokenSource } from "../contracts/token_source.ts";
import type { WorkRequest } from "../contracts/work_source.ts";

/** The wait of a pool for an item: there is one at a time, which can be taken back. */
export class Wait {
  readonly #wanted: () => number;
  readonly #starts: () => TokenSource | undefined;
  #takeBack = new AbortController();
  #isOn = false;

  /** Each wait is for as many items as are `wanted`, with tokens of `starts`. */
  constructor(wanted: () => number, starts: () => TokenSource | undefined) {
    this.#wanted = wanted;
    this.#starts = starts;
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  begin(): WorkRequest {
    this.#isOn = true;
    return { signal: this.#takeBack.signal, wanted: this.#wanted, starts: this.#starts() };
  }

  end(): void {
    this.#isOn = false;
  }

  /** An item that comes all the same is given back. */
  takeBack(): void {
    if (!this.#isOn) return;
    this.#takeBack.abort();
    this.#takeBack = new AbortController();
  }
}
