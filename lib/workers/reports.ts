import type { Counter } from "../contracts/metrics.ts";
import type { WorkAttempt } from "../contracts/work_source.ts";
import type { WorkerOptions } from "../contracts/workers.ts";
import type { PoolMetrics } from "../metrics/pool_metrics.ts";
import type { Totals } from "../metrics/totals.ts";
import type { FailureLog } from "./failure_log.ts";

/** What a pool calls when something goes wrong. */
export type Callbacks<T> = Pick<WorkerOptions<T>, "onError" | "onGiveUp">;

/** Tells the callbacks of a pool what went wrong, and counts it. Whatever these do, the pool goes on. */
export class Reports<T> {
  readonly #callbacks: Callbacks<T>;
  readonly #log: FailureLog;
  readonly #metrics: PoolMetrics | undefined;
  readonly #totals = { succeeded: 0, failed: 0, givenUp: 0 };

  /** Errors that no callback wants go to the log. */
  constructor(callbacks: Callbacks<T>, log: FailureLog, metrics: PoolMetrics | undefined) {
    this.#callbacks = callbacks;
    this.#log = log;
    this.#metrics = metrics;
  }

  get totals(): Totals {
    return { ...this.#totals };
  }

  /** A handler begins. */
  began(attempt: WorkAttempt<T>): void {
    this.#count(this.#metrics?.active, attempt);
  }

  /** A handler has ended. */
  ended(attempt: WorkAttempt<T>): void {
    try {
      this.#metrics?.active?.dec();
    } catch (error) {
      this.error(error, attempt);
    }
  }

  /** An attempt did not fail. */
  succeeded(): void {
    this.#totals.succeeded++;
  }

  /** An attempt failed. */
  failed(error: unknown, attempt: WorkAttempt<T>): void {
    this.#totals.failed++;
    this.error(error, attempt);
    this.#count(this.#metrics?.failures, attempt);
  }

  /** A callback that fails itself has nobody to report to, and must not end the pool. */
  readonly error = (error: unknown, attempt: WorkAttempt<T>): void => {
    callSafely(() => {
      if (this.#callbacks.onError === undefined) return this.#log.write(error, attempt);
      return this.#callbacks.onError(error, attempt.lease.item, attempt.number);
    }, () => {});
  };

  givenUp(error: unknown, attempt: WorkAttempt<T>): void {
    this.#totals.givenUp++;
    callSafely(
      () => this.#callbacks.onGiveUp?.(error, attempt.lease.item, attempt.number),
      (thrown) => this.error(thrown, attempt),
    );
    this.#count(this.#metrics?.givenUp, attempt);
  }

  /** A metric that throws costs no item anything. */
  #count(meter: Counter | undefined, attempt: WorkAttempt<T>): void {
    try {
      meter?.inc();
    } catch (error) {
      this.error(error, attempt);
    }
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
