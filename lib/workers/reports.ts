import type { WorkerOptions } from "../contracts/workers.ts";
import type { Attempt } from "./attempt.ts";

/** Tells the callbacks of a pool what went wrong. Whatever these do, the pool goes on. */
export class Reports<T> {
  readonly #callbacks: Pick<WorkerOptions<T>, "onError" | "onGiveUp">;

  constructor(callbacks: Pick<WorkerOptions<T>, "onError" | "onGiveUp">) {
    this.#callbacks = callbacks;
  }

  /** A callback that fails itself has nobody to report to, and must not end the pool. */
  error(error: unknown, { item, number }: Attempt<T>): void {
    callSafely(() => this.#callbacks.onError?.(error, item, number), () => {});
  }

  givenUp(error: unknown, attempt: Attempt<T>): void {
    this.errorsOf(() => this.#callbacks.onGiveUp?.(error, attempt.item, attempt.number), attempt);
  }

  /** Calls a function and reports what it throws. */
  errorsOf(action: () => unknown, attempt: Attempt<T>): void {
    callSafely(action, (error) => this.error(error, attempt));
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
