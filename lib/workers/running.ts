import type { Attempt } from "./attempt.ts";

/** A worker, which handles one item after another. */
export interface Worker<T> {
  /** The current attempt. */
  attempt: Attempt<T> | undefined;
}

/**
 * Workers of a pool. To record an attempt, just set the worker's property: attempts are frequent, so this must be fast.
 */
export class Running<T> {
  readonly #workers = new Set<Worker<T>>();

  get size(): number {
    return this.#workers.size;
  }

  begin(): Worker<T> {
    const worker: Worker<T> = { attempt: undefined };
    this.#workers.add(worker);
    return worker;
  }

  end(worker: Worker<T>): void {
    this.#workers.delete(worker);
  }

  /** Returns the attempts that started first, at most `limit` of them. */
  oldest(limit: number): Attempt<T>[] {
    const attempts: Attempt<T>[] = [];
    for (const { attempt } of this.#workers) if (attempt !== undefined) attempts.push(attempt);
    return attempts.sort((a, b) => beganAt(a) - beganAt(b)).slice(0, limit);
  }
}

/**
 * Returns the start time of an attempt, for sorting. An attempt whose handler has not awaited anything yet sorts last.
 * `Infinity` would not work, because the difference of two infinities is `NaN`.
 */
function beganAt({ began }: Attempt<unknown>): number {
  return began?.time ?? Number.MAX_VALUE;
}
