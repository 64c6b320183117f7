import { callSafely, ErrorOutput, messageOf } from "@workqueue/core/internal";

/** Where errors go: to a callback, or to the console, one line a second at most with the number of those left out. */
export class ErrorLog {
  readonly #prefix: string;
  readonly #callback: ((error: unknown) => void) | undefined;
  readonly #output: ErrorOutput = new ErrorOutput(() => performance.now());

  constructor(prefix: string, callback: ((error: unknown) => void) | undefined) {
    this.#prefix = prefix;
    this.#callback = callback;
  }

  /** What a callback throws is dropped: there is nobody to tell. */
  readonly write = (error: unknown): void => {
    if (this.#callback === undefined) return this.#output.write(() => `${this.#prefix}: ${messageOf(error)}`);
    callSafely(this.#callback, () => {}, error);
  };
}
