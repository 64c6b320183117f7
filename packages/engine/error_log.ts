import { callSafely, ErrorOutput, messageOf } from "@workqueue/core/internal";
import { ReportedCall } from "./reported_call.ts";

/**
 * Reports errors to a callback. Without a callback, writes at most one line per second to `console.error`. A line
 * includes the number of errors that were omitted.
 */
export class ErrorLog {
  readonly #prefix: string;
  readonly #callback: ((error: unknown) => void) | undefined;
  readonly #output: ErrorOutput = new ErrorOutput(() => performance.now());

  constructor(prefix: string, callback: ((error: unknown) => void) | undefined) {
    this.#prefix = prefix;
    this.#callback = callback;
  }

  /** Reports an error. Ignores errors that the callback throws, because nothing could report them. */
  readonly write = (error: unknown): void => {
    if (this.#callback === undefined) return this.#output.write(() => `${this.#prefix}: ${messageOf(error)}`);
    callSafely(this.#callback, undefined, error);
  };

  /**
   * Returns a promise for a call that doesn't have to be awaited. A callback is told of each rejection. Without a
   * callback, only a rejection that nothing handles is written.
   *
   * @param isFailure Reports whether a callback is told of a rejection because the call has failed. By default, always.
   */
  call<R>(promise: Promise<R>, isFailure: (error: unknown) => boolean = () => true): Promise<R> {
    if (this.#callback === undefined) return ReportedCall.of(promise, this.write);
    promise.catch((error) => {
      if (isFailure(error)) this.write(error);
    });
    return promise;
  }
}
