import type { ObservableResult } from "@opentelemetry/api";
import { LabelledNumber, LabelledNumbers } from "@workqueue/core/internal";
import type { MetricFamily } from "@workqueue/core/metrics";
import type { Meter } from "./api.ts";
import { optionsOf } from "./options_of.ts";

/** Counters or gauges of one family. OpenTelemetry reads all of them when it collects metrics. */
export class ObservedNumbers {
  readonly #numbers: LabelledNumbers;
  readonly #isGone: (queue: string) => boolean;

  /**
   * Creates the instrument of a family. `isGone` reports whether all queues with the given name are gone. Counters of
   * queues that are gone are still observed.
   */
  constructor(meter: Meter, family: MetricFamily, isGone: (queue: string) => boolean) {
    this.#numbers = new LabelledNumbers(family.label, (labels) => new LabelledNumber(labels));
    const isCounter = family.kind === "counter";
    this.#isGone = isCounter ? () => false : isGone;
    const instrument = isCounter
      ? meter.createObservableCounter(family.name, optionsOf(family))
      : meter.createObservableGauge(family.name, optionsOf(family));
    instrument.addCallback((result) => this.#observe(result));
  }

  /** Returns the number that all queues with the given name share. */
  of(queue: string, value?: string): LabelledNumber {
    return this.#numbers.of(queue, value);
  }

  /** Observes all numbers. For a queue that is gone, observes 0 once, because an SDK may repeat the last value. */
  #observe(result: ObservableResult): void {
    const gone = new Set<string>();
    for (const { labels, value } of this.#numbers.all()) {
      const isGone = this.#isGone(labels.name);
      if (isGone) gone.add(labels.name);
      if (isGone || !Number.isNaN(value)) result.observe(isGone ? 0 : value, labels);
    }
    for (const queue of gone) this.#numbers.remove(queue);
  }
}
