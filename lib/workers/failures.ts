import { inOneLine } from "../base/safe_text.ts";
import type { WorkAttempt } from "../contracts/work_source.ts";
import type { BurstTime, Moment } from "../structures/burst_time.ts";
import { messageOf } from "../base/error_text.ts";

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
 * Keys whose last attempt failed and that will be retried. Only the latest {@linkcode MAX_FAILURES} keys are
 * remembered.
 */
export class Failures<T> {
  readonly #time: BurstTime;
  /** Failures in the order in which they happened, the latest last. */
  readonly #byKey = new Map<unknown, Failure<T>>();

  constructor(time: BurstTime) {
    this.#time = time;
  }

  add({ lease: { item }, key, number }: WorkAttempt<T>, error: unknown): void {
    this.#byKey.delete(key);
    this.#byKey.set(key, { item, key, attempts: number, error: messageOf(error), at: this.#time.now() });
    if (this.#byKey.size > MAX_FAILURES) this.#byKey.delete(this.#byKey.keys().next().value);
  }

  delete(key: unknown): void {
    if (this.#byKey.size > 0) this.#byKey.delete(key);
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
}
