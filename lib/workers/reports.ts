import type { FailureLog } from "../base/failure_log.ts";
import { inOneLine } from "../base/safe_text.ts";
import { callSafely, messageOf } from "../base/thrown.ts";
import type { Ending, GivenUpItem, WorkAttempt, WorkSource } from "../contracts/work_source.ts";
import type { WorkerOptions } from "../contracts/workers.ts";
import type { FailureWatcher } from "../metrics/failure_watch.ts";
import type { PoolMetrics } from "../metrics/pool_metrics.ts";
import type { Totals } from "../metrics/totals.ts";
import type { BurstTime, Moment } from "../structures/burst.ts";

/** Maximum number of failing keys to remember. */
export const MAX_FAILURES = 1000;

/** Callbacks of a pool for errors and given-up items. */
export type Callbacks<T> = Pick<WorkerOptions<T>, "onError" | "onGiveUp">;

/** The last failure of a key. */
export interface Failure<T> {
  readonly item: T;
  readonly key: unknown;
  readonly attempts: number;
  /** Message of the error. The error itself is not kept, because it may keep much more memory alive. */
  readonly error: string;
  /** Time of the failure. */
  readonly at: Moment;
}

/** Attempt to which an error belongs. */
interface FailedAttempt<T> {
  readonly lease: { readonly item: T };
  readonly key: unknown;
  readonly number: number;
}

/** Parts of a pool with which its reports are made. */
export interface ReportingPool<T> {
  readonly source: Pick<WorkSource<T>, "watchForgotten">;
  readonly callbacks: Callbacks<T>;
  /** Receives errors if there is no `onError` callback. */
  readonly log: FailureLog;
  readonly metrics: PoolMetrics | undefined;
  readonly time: BurstTime;
}

/**
 * Everything that a pool tells of its attempts: it calls callbacks and watchers, counts outcomes, and remembers the
 * last failures. Callbacks and watchers that throw don't affect the pool.
 */
export class Reports<T> {
  readonly #pool: ReportingPool<T>;
  /** Number of attempts that did not fail. */
  #succeeded = 0;
  readonly #totals = { failed: 0, givenUp: 0 };
  readonly #givenUpFor = { maxRetries: 0, terminal: 0, shutdown: 0, stalled: 0, limiter: 0 };
  /**
   * Last failures of the keys whose last attempt failed and that will be retried, or whose handler still runs after a
   * timeout. The latest is the last. Only the latest {@linkcode MAX_FAILURES} are remembered.
   */
  readonly #failures = new Map<unknown, Failure<T>>();
  /** Watchers and their unsubscribe functions; `undefined` if there is no watcher. */
  #watchers: Map<FailureWatcher<T>, () => void> | undefined = undefined;

  constructor(pool: ReportingPool<T>) {
    this.#pool = pool;
  }

  get totals(): Totals {
    return { succeeded: this.#succeeded, ...this.#totals, givenUpFor: { ...this.#givenUpFor } };
  }

  /** Passes an error to `onError`. */
  readonly error = (error: unknown, { lease: { item }, key, number }: FailedAttempt<T>): void => {
    const { callbacks, log } = this.#pool;
    if (callbacks.onError === undefined) callSafely(() => log.write(error, { key, number }));
    else callSafely(callbacks.onError, undefined, error, item, number);
  };

  /** Reports an attempt that failed. An ending follows. */
  failed(error: unknown, attempt: WorkAttempt<T>): void {
    const { lease: { item }, key, number: attempts } = attempt;
    this.#totals.failed++;
    this.error(error, attempt);
    if (this.#watchers !== undefined) {
      const failed = { item, key, attempts, error: inOneLine(messageOf(error)) };
      this.#tell((watcher) => watcher.failed(failed));
    }
    this.#pool.metrics?.failures?.inc();
  }

  /** Reports an ending that has been carried out. */
  ended(attempt: WorkAttempt<T>, ending: Ending): void {
    if (ending.kind === "handedBack") return;
    if (ending.kind === "failed") return this.remember(attempt, ending.error);
    this.forget(attempt.key);
    if (ending.kind === "givenUp") {
      this.givenUp({ ...ending, item: attempt.lease.item, key: attempt.key, attempts: attempt.number });
    } else if (ending.kind !== "cancelled") this.#succeeded++;
  }

  /** Remembers the last failure of a key. */
  remember({ lease: { item }, key, number: attempts }: WorkAttempt<T>, error: unknown): void {
    const failures = this.#failures;
    failures.delete(key);
    failures.set(key, { item, key, attempts, error: messageOf(error), at: this.#pool.time.now() });
    if (failures.size > MAX_FAILURES) failures.delete(failures.keys().next().value);
  }

  /** Forgets the last failure of a key. */
  forget(key: unknown): void {
    if (this.#failures.size > 0) this.#failures.delete(key);
    if (this.#watchers !== undefined) this.#tell((watcher) => watcher.ended(key));
  }

  /** Reports an item that was given up. */
  givenUp({ item, key, attempts, error, reason }: GivenUpItem<T>): void {
    const { callbacks: { onGiveUp }, metrics } = this.#pool;
    this.#totals.givenUp++;
    this.#givenUpFor[reason]++;
    const onError = (thrown: unknown) => this.error(thrown, { lease: { item }, key, number: attempts });
    if (onGiveUp !== undefined) callSafely(onGiveUp, onError, error, item, attempts, reason);
    metrics?.givenUp[reason]?.inc();
  }

  /**
   * Lists the latest failures for which `isKnown` returns `true`, the latest first, with each message on one line.
   * Forgets failures for which `isKnown` returns `false`.
   */
  list(limit: number, isKnown: (key: unknown, item: T) => boolean): Failure<T>[] {
    const listed: Failure<T>[] = [];
    for (const failure of [...this.#failures.values()].reverse()) {
      if (listed.length === limit) break;
      if (isKnown(failure.key, failure.item)) listed.push({ ...failure, error: inOneLine(failure.error) });
      else this.#failures.delete(failure.key);
    }
    return listed;
  }

  /** Adds a watcher. Returns an unsubscribe function. */
  watch(watcher: FailureWatcher<T>): () => void {
    const watchers = this.#watchers ??= new Map();
    const tell = (key: unknown) => callSafely(() => watcher.ended(key));
    watchers.set(watcher, this.#pool.source.watchForgotten(tell));
    return () => {
      watchers.get(watcher)?.();
      watchers.delete(watcher);
      if (watchers.size === 0 && this.#watchers === watchers) this.#watchers = undefined;
    };
  }

  #tell(call: (watcher: FailureWatcher<T>) => void): void {
    for (const watcher of this.#watchers?.keys() ?? []) callSafely(call, undefined, watcher);
  }
}
