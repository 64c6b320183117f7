import { systemClock } from "@workqueue/core";

/** Decides when to remove the metrics of queues. Queues are identified by name, as in metrics. */
export class Lifetimes {
  readonly #keepFor: number;
  /** For each queue name, the time at which the last queue with that name was shut down and empty, in milliseconds. */
  readonly #goneAt = new Map<string, number>();

  /**
   * Creates an instance without queues. `keepFor` is the time in milliseconds for which the metrics of a queue are kept
   * after the queue is gone.
   */
  constructor(keepFor: number) {
    this.#keepFor = keepFor;
  }

  began(queue: string): void {
    this.#goneAt.delete(queue);
  }

  ended(queue: string): void {
    this.#goneAt.set(queue, systemClock.now());
  }

  /** Returns the queues that have been gone for `keepFor`. Returns each of these queues only once. */
  takeOver(): string[] {
    if (this.#goneAt.size === 0) return [];
    const now = systemClock.now();
    const over = [...this.#goneAt].filter(([, goneAt]) => now - goneAt >= this.#keepFor).map(([queue]) => queue);
    for (const queue of over) this.#goneAt.delete(queue);
    return over;
  }
}
