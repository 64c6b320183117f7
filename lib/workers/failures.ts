import { inOneLine } from "../base/safe_text.ts";
import type { WorkAttempt } from "../contracts/work_source.ts";
import type { BurstTime, Moment } from "../structures/burst_time.ts";
import { messageOf } from "../base/error_text.ts";

/** How many keys are remembered. */
export const MAX_FAILURES = 1000;

/** The last failure of a key. */
export interface Failure<T> {
  readonly item: T;
  readonly key: unknown;
  readonly attempts: number;
  /** In one line. The error itself may hold on to much more. */
  readonly error: string;
  /** When it was. */
  readonly at: Moment;
}

/** The keys whose last attempt failed and that will be tried again: the latest ones of them. */
export class Failures<T> {
  readonly #time: BurstTime;
  /** The latest failure last. */
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

  /** The latest failures that `isKnown` says are known, the very latest first. Those that are not are dropped. */
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
