import type { ObservableResult } from "@opentelemetry/api";
import { LabelledNumber, LabelledNumbers } from "@workqueue/core/internal";
import type { MetricFamily } from "@workqueue/core/metrics";
import type { Meter } from "./api.ts";
import { optionsOf } from "./options_of.ts";

/** The counters or gauges of one family. OpenTelemetry asks for all of them when it collects. */
export class ObservedNumbers {
  readonly #numbers: LabelledNumbers;
  readonly #isGone: (queue: string) => boolean;

  /** `isGone` reports whether there is no queue of that name any more. Counters are observed all the same. */
  constructor(meter: Meter, family: MetricFamily, isGone: (queue: string) => boolean) {
    this.#numbers = new LabelledNumbers(family.label, (labels) => new LabelledNumber(labels));
    const isCounter = family.kind === "counter";
    this.#isGone = isCounter ? () => false : isGone;
    const instrument = isCounter
      ? meter.createObservableCounter(family.name, optionsOf(family))
      : meter.createObservableGauge(family.name, optionsOf(family));
    instrument.addCallback((result) => this.#observe(result));
  }

  /** One number for all queues of that name. */
  of(queue: string, value?: string): LabelledNumber {
    return this.#numbers.of(queue, value);
  }

  /** Observes 0 once for a queue that is gone, as an SDK may go on with the last value that it saw. */
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
