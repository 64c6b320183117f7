import { systemClock } from "@workqueue/core";

/** Decides when to remove the metrics of queues. Queues are identified by name, as in metrics. */
export class Lifetimes {
  readonly #keepFor: number;
  /** Times when all queues with a name were gone, in milliseconds. */
  readonly #goneAt = new Map<string, number>();

  /**
   * Creates an instance without queues. `keepFor` is the time to keep metrics of queues that are gone, in milliseconds.
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

  /** Returns each queue whose time is over, once. */
  takeOver(): string[] {
    if (this.#goneAt.size === 0) return [];
    const now = systemClock.now();
    const over = [...this.#goneAt].filter(([, goneAt]) => now - goneAt >= this.#keepFor).map(([queue]) => queue);
    for (const queue of over) this.#goneAt.delete(queue);
    return over;
  }
}
