import type { Counter, Gauge, SettableGauge } from "@workqueue/core/metrics";

/** What tells one series of a metric from another. */
export interface Labels {
  readonly name: string;
  readonly priority?: string;
}

/** A number of one queue. */
export class LabelledNumber implements Counter, Gauge, SettableGauge {
  value = 0;
  readonly labels: Labels;

  constructor(labels: Labels) {
    this.labels = labels;
  }

  inc(): void {
    this.value++;
  }

  dec(): void {
    this.value--;
  }

  set(value: number): void {
    this.value = value;
  }
}

/**
 * The numbers of one metric, one for all queues of a name. They are plain ones, which prom-client is told when somebody
 * scrapes: it looks for the labels at each call, and queues count more often than anybody scrapes.
 */
export class Numbers {
  readonly #numbers = new Map<string, LabelledNumber>();

  /** The number with these labels: the one that is there, or a new one. */
  of(queue: string, priority?: string): LabelledNumber {
    const key = JSON.stringify([queue, priority]);
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = new LabelledNumber(priority === undefined ? { name: queue } : { name: queue, priority });
      this.#numbers.set(key, number);
    }
    return number;
  }

  all(): Iterable<LabelledNumber> {
    return this.#numbers.values();
  }

  /** Takes away all numbers of a queue, and gives their labels. */
  remove(queue: string): Labels[] {
    const removed = [...this.#numbers].filter(([, { labels }]) => labels.name === queue);
    for (const [key] of removed) this.#numbers.delete(key);
    return removed.map(([, { labels }]) => labels);
  }
}
