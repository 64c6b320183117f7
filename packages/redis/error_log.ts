import { messageOf } from "./error_text.ts";

/** The shortest time between two lines, in milliseconds. */
const INTERVAL = 1000;

/** Where errors go: to a callback, or to the console, one line a second at most with the number of those left out. */
export class ErrorLog {
  readonly #prefix: string;
  readonly #onError: ((error: unknown) => void) | undefined;
  #lastAt = -Infinity;
  #leftOut = 0;

  constructor(prefix: string, onError: ((error: unknown) => void) | undefined) {
    this.#prefix = prefix;
    this.#onError = onError;
  }

  /** What a callback throws is dropped: there is nobody to tell. */
  readonly write = (error: unknown): void => {
    if (this.#onError === undefined) return this.#print(error);
    try {
      Promise.resolve(this.#onError(error)).catch(() => {});
    } catch {
      // See above.
    }
  };

  #print(error: unknown): void {
    const now = performance.now();
    if (now - this.#lastAt < INTERVAL) {
      this.#leftOut++;
      return;
    }
    const others = this.#leftOut === 0 ? "" : ` (and ${this.#leftOut} more errors before)`;
    this.#lastAt = now;
    this.#leftOut = 0;
    console.error(`${this.#prefix}: ${messageOf(error)}${others}`);
  }
}
