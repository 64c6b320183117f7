import { callSafely } from "../base/call_safely.ts";
import { messageOf } from "../base/error_text.ts";
import { copyOf, inOneLine } from "../base/safe_text.ts";
import type { WorkAttempt, WorkSource } from "../contracts/work_source.ts";
import type { FailureWatcher } from "../metrics/failure_watch.ts";
import type { BurstTime, Moment } from "../structures/burst_time.ts";

/** Maximum number of keys to remember. */
export const MAX_FAILURES = 1000;

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

/**
 * Keys whose last attempt failed and that will be retried, or whose handler still runs after a timeout. Only the latest
 * {@linkcode MAX_FAILURES} keys are remembered.
 */
export class Failures<T> {
  readonly #time: BurstTime;
  /** Failures in the order in which they happened, the latest last. */
  readonly #byKey = new Map<unknown, Failure<T>>();
  readonly #source: Pick<WorkSource<T>, "watchForgotten">;
  /** Watchers and their unsubscribe functions; `undefined` until there is a watcher. */
  #watchers: Map<FailureWatcher<T>, () => void> | undefined = undefined;

  constructor(time: BurstTime, source: Pick<WorkSource<T>, "watchForgotten">) {
    this.#time = time;
    this.#source = source;
  }

  add({ lease: { item }, key, number }: WorkAttempt<T>, error: unknown): void {
    this.#byKey.delete(key);
    this.#byKey.set(key, { item, key, attempts: number, error: copyOf(messageOf(error)), at: this.#time.now() });
    if (this.#byKey.size > MAX_FAILURES) this.#byKey.delete(this.#byKey.keys().next().value);
  }

  delete(key: unknown): void {
    if (this.#byKey.size > 0) this.#byKey.delete(key);
    if (this.#watchers !== undefined) this.#tell((watcher) => watcher.ended(key));
  }

  /** Adds a watcher. Returns an unsubscribe function. */
  watch(watcher: FailureWatcher<T>): () => void {
    const watchers = this.#watchers ??= new Map();
    const tell = (key: unknown) => callSafely(() => watcher.ended(key), drop, undefined);
    watchers.set(watcher, this.#source.watchForgotten(tell));
    return () => {
      watchers.get(watcher)?.();
      watchers.delete(watcher);
      if (watchers.size === 0 && this.#watchers === watchers) this.#watchers = undefined;
    };
  }

  /** Tells the watchers that an attempt failed. */
  tellFailed({ lease: { item }, key, number: attempts }: WorkAttempt<T>, error: unknown): void {
    if (this.#watchers === undefined) return;
    const failed = { item, key, attempts, error: inOneLine(messageOf(error)) };
    this.#tell((watcher) => watcher.failed(failed));
  }

  /**
   * Lists the latest failures for which `isKnown` returns `true`, the latest first, with each message on one line.
   * Forgets failures for which `isKnown` returns `false`.
   */
  list(limit: number, isKnown: (key: unknown, item: T) => boolean): Failure<T>[] {
    const listed: Failure<T>[] = [];
    for (const failure of [...this.#byKey.values()].reverse()) {
      if (listed.length === limit) break;
      if (isKnown(failure.key, failure.item)) listed.push({ ...failure, error: inOneLine(failure.error) });
      else this.#byKey.delete(failure.key);
    }
    return listed;
  }

  /** Calls each watcher. A watcher that throws affects neither the pool nor other watchers. */
  #tell(call: (watcher: FailureWatcher<T>) => void): void {
    for (const watcher of this.#watchers?.keys() ?? []) callSafely(call, drop, watcher);
  }
}

function drop(): void {}
