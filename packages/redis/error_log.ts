import { callSafely, ErrorOutput, messageOf } from "@workqueue/core/internal";

/**
 * Reports errors to a callback. Without one, writes them to `console.error`: at most one line per second, with the
 * number of errors left out.
 */
export class ErrorLog {
  readonly #prefix: string;
  readonly #callback: ((error: unknown) => void) | undefined;
  readonly #output: ErrorOutput = new ErrorOutput(() => performance.now());

  constructor(prefix: string, callback: ((error: unknown) => void) | undefined) {
    this.#prefix = prefix;
    this.#callback = callback;
  }

  /** Reports an error. An error thrown by the callback is dropped, because nothing is left to report it to. */
  readonly write = (error: unknown): void => {
    if (this.#callback === undefined) return this.#output.write(() => `${this.#prefix}: ${messageOf(error)}`);
    callSafely(this.#callback, () => {}, error);
  };
}
