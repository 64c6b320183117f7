import type { WorkAttempt } from "../contracts/work_source.ts";
import type { WorkerOptions } from "../contracts/workers.ts";
import type { FailureLog } from "./failure_log.ts";

/** What a pool calls when something goes wrong. */
export type Callbacks<T> = Pick<WorkerOptions<T>, "onError" | "onGiveUp">;

/** Tells the callbacks of a pool what went wrong. Whatever these do, the pool goes on. */
export class Reports<T> {
  readonly #callbacks: Callbacks<T>;
  readonly #log: FailureLog;

  /** Errors that no callback wants go to the log. */
  constructor(callbacks: Callbacks<T>, log: FailureLog) {
    this.#callbacks = callbacks;
    this.#log = log;
  }

  /** A callback that fails itself has nobody to report to, and must not end the pool. */
  readonly error = (error: unknown, attempt: WorkAttempt<T>): void => {
    callSafely(() => {
      if (this.#callbacks.onError === undefined) return this.#log.write(error, attempt);
      return this.#callbacks.onError(error, attempt.lease.item, attempt.number);
    }, () => {});
  };

  givenUp(error: unknown, attempt: WorkAttempt<T>): void {
    callSafely(
      () => this.#callbacks.onGiveUp?.(error, attempt.lease.item, attempt.number),
      (thrown) => this.error(thrown, attempt),
    );
  }
}

/** Calls a user's function, which may throw, or be asynchronous and reject. */
function callSafely(action: () => unknown, onError: (error: unknown) => void): void {
  try {
    Promise.resolve(action()).catch(onError);
  } catch (error) {
    onError(error);
  }
}
