import { Recorders } from "@workqueue/core/metrics";

/**
 * Times of the items that this process takes, for the recorders. Nothing is measured without recorders. Each piece of
 * work in progress is identified by its `Lease`.
 */
export class ProcessTimes<Lease> {
  readonly recorders: Recorders = new Recorders();
  readonly #startedAt = new Map<Lease, number>();

  /** Times at which the work in progress started, by `performance.now`. */
  get started(): Iterable<number> {
    return this.#startedAt.values();
  }

  /** Whether there is work in progress. */
  get isWorking(): boolean {
    return this.#startedAt.size > 0;
  }

  /**
   * Records that an item was handed out to this process. The item had been ready for `readyFor` milliseconds;
   * `undefined` if the time was not requested.
   */
  taken(lease: Lease, readyFor: number | undefined): void {
    if (this.recorders.size === 0 || readyFor === undefined) return;
    this.#startedAt.set(lease, performance.now());
    this.recorders.waited(readyFor);
  }

  /** Records the end of the work on an item. */
  ended(lease: Lease): void {
    const startedAt = this.#startedAt.get(lease);
    if (startedAt === undefined) return;
    this.#startedAt.delete(lease);
    this.recorders.worked(performance.now() - startedAt);
  }

  /** Records that an item was handed back. The work duration of such an item is not recorded. */
  handedBack(lease: Lease): void {
    this.#startedAt.delete(lease);
  }
}
