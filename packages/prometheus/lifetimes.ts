import { systemClock } from "@workqueue/core";

/** Knows of which queues the metrics are to be kept. It goes by names, as metrics do. */
export class Lifetimes {
  readonly #keepFor: number;
  /** When the queues of a name were gone, where there are none. */
  readonly #goneAt = new Map<string, number>();

  /** Takes for how long metrics are kept that change no more, in milliseconds. */
  constructor(keepFor: number) {
    this.#keepFor = keepFor;
  }

  began(queue: string): void {
    this.#goneAt.delete(queue);
  }

  ended(queue: string): void {
    this.#goneAt.set(queue, systemClock.now());
  }

  /** Gives the queues whose time is over, once. */
  takeOver(): string[] {
    if (this.#goneAt.size === 0) return [];
    const now = systemClock.now();
    const over = [...this.#goneAt].filter(([, goneAt]) => now - goneAt >= this.#keepFor).map(([queue]) => queue);
    for (const queue of over) this.#goneAt.delete(queue);
    return over;
  }
}
