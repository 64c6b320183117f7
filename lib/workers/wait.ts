import type { TokenSource } from "../contracts/token_source.ts";
import type { WorkRequest } from "../contracts/work_source.ts";

/** The wait of a pool for an item: there is one at a time, which can be taken back. */
export class Wait {
  readonly #wanted: () => number;
  readonly #starts: TokenSource | undefined;
  #takeBack = new AbortController();
  #isOn = false;
  /** What is asked for, in each wait until one is taken back. */
  #request: WorkRequest;

  constructor(wanted: () => number, starts: TokenSource | undefined) {
    this.#wanted = wanted;
    this.#starts = starts;
    this.#request = this.#newRequest();
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  begin(): WorkRequest {
    this.#isOn = true;
    return this.#request;
  }

  end(): void {
    this.#isOn = false;
  }

  /** An item that comes all the same is given back. */
  takeBack(): void {
    if (!this.#isOn) return;
    this.#takeBack.abort();
    this.#takeBack = new AbortController();
    this.#request = this.#newRequest();
  }

  #newRequest(): WorkRequest {
    return { signal: this.#takeBack.signal, wanted: this.#wanted, starts: this.#starts };
  }
}
