import type { Moment } from "../structures/burst_time.ts";
import type { Attempt } from "./attempt.ts";

/** A worker, which handles one item after another. */
export interface Worker<T> {
  /** The current attempt. */
  attempt: Attempt<T> | undefined;
  /**
   * Time at which the attempt began. By default, the time at which the handler first awaited something. In that case,
   * not set for a handler that never awaits, which ends before any other code can read this property.
   */
  began: Moment | undefined;
}

/** A worker with a current attempt. */
export type BusyWorker<T> = Worker<T> & { attempt: Attempt<T> };

/**
 * Workers of a pool. To record an attempt, just set the worker's property: attempts are frequent, so this must be fast.
 */
export class Running<T> {
  readonly #workers = new Set<Worker<T>>();

  get size(): number {
    return this.#workers.size;
  }

  begin(): Worker<T> {
    const worker: Worker<T> = { attempt: undefined, began: undefined };
    this.#workers.add(worker);
    return worker;
  }

  end(worker: Worker<T>): void {
    this.#workers.delete(worker);
  }

  /** Returns the workers whose attempts started first, at most `limit` of them. */
  oldest(limit: number): BusyWorker<T>[] {
    const busy = [...this.#workers].filter((worker): worker is BusyWorker<T> => worker.attempt !== undefined);
    return busy.sort((a, b) => beganAt(a) - beganAt(b)).slice(0, limit);
  }
}

/**
 * Returns the start time of an attempt, for sorting. An attempt whose handler has not awaited anything yet sorts last.
 * `Infinity` would not work, because the difference of two infinities is `NaN`.
 */
function beganAt({ began }: Worker<unknown>): number {
  return began?.time ?? Number.MAX_VALUE;
}
