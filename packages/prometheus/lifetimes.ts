import { systemClock } from "@workqueue/core";

/** Decides when to remove the metrics of queues. Queues are identified by name, like in metrics. */
export class Lifetimes {
  readonly #keepFor: number;
  /** Time in milliseconds when the last queue with a name was gone, by name. */
  readonly #goneAt = new Map<string, number>();

  /**
   * Creates an instance without queues. `keepFor` is the time in milliseconds to keep the metrics of queues that are
   * gone.
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
