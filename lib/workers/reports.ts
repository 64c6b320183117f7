import { callSafely } from "../base/call_safely.ts";
import type { FailureLog } from "../base/failure_log.ts";
import type { GivenUpItem, WorkAttempt } from "../contracts/work_source.ts";
import type { WorkerOptions } from "../contracts/workers.ts";
import type { PoolMetrics } from "../metrics/pool_metrics.ts";
import type { Totals } from "../metrics/totals.ts";
import type { Failures } from "./failures.ts";

/** Callbacks of a pool for errors and given-up items. */
export type Callbacks<T> = Pick<WorkerOptions<T>, "onError" | "onGiveUp">;

/** Attempt to which an error belongs. */
interface FailedAttempt<T> {
  readonly lease: { readonly item: T };
  readonly key: unknown;
  readonly number: number;
}

/**
 * Passes errors to the callbacks of a pool, and counts outcomes. Errors that the callbacks throw don't affect the pool.
 */
export class Reports<T> {
  readonly #callbacks: Callbacks<T>;
  readonly #log: FailureLog;
  readonly #metrics: PoolMetrics | undefined;
  readonly #failures: Failures<T>;
  /** Number of attempts that did not fail. */
  succeeded = 0;
  readonly #totals = { failed: 0, givenUp: 0 };
  readonly #givenUpFor = { maxRetries: 0, terminal: 0, shutdown: 0, stalled: 0, limiter: 0 };

  /** Without an `onError` callback, errors are written to `log`. */
  constructor(
    callbacks: Callbacks<T>,
    log: FailureLog,
    metrics: PoolMetrics | undefined,
    failures: Failures<T>,
  ) {
    this.#callbacks = callbacks;
    this.#log = log;
    this.#metrics = metrics;
    this.#failures = failures;
  }

  get totals(): Totals {
    return { succeeded: this.succeeded, ...this.#totals, givenUpFor: { ...this.#givenUpFor } };
  }

  /** Counts and reports an attempt that failed. */
  failed(error: unknown, attempt: WorkAttempt<T>): void {
    this.#totals.failed++;
    this.error(error, attempt);
    this.#failures.tellFailed(attempt, error);
    this.#metrics?.failures?.inc();
  }

  /** Passes an error to `onError`. An error that the callback throws is dropped, so it can't end the pool. */
  readonly error = (error: unknown, attempt: FailedAttempt<T>): void => {
    const { lease: { item }, key, number } = attempt;
    const tell = (error: unknown) => {
      if (this.#callbacks.onError === undefined) return this.#log.write(error, { key, number });
      return this.#callbacks.onError(error, item, number);
    };
    callSafely(tell, drop, error);
  };

  /** Counts and reports an item that was given up. */
  givenUp({ item, key, attempts, error, reason }: GivenUpItem<T>): void {
    this.#totals.givenUp++;
    this.#givenUpFor[reason]++;
    const onError = (thrown: unknown) => this.error(thrown, { lease: { item }, key, number: attempts });
    callSafely((error) => this.#callbacks.onGiveUp?.(error, item, attempts, reason), onError, error);
    this.#metrics?.givenUp[reason]?.inc();
  }
}

function drop(): void {}
