import type { Attributes, ObservableResult } from "@opentelemetry/api";
import type { Counter, Gauge, MetricFamily, SettableGauge } from "@workqueue/core/metrics";
import type { Meter } from "./api.ts";
import { optionsOf } from "./options_of.ts";

/** The counter or gauge of one queue. */
export class ObservedNumber implements Counter, Gauge, SettableGauge {
  value = 0;
  readonly attributes: Attributes;

  constructor(attributes: Attributes) {
    this.attributes = attributes;
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

/** The counters or gauges of one family. OpenTelemetry asks for all of them when it collects. */
export class ObservedNumbers {
  /** By queue, and by the name of a priority where there is one. */
  readonly #numbers = new Map<string, Map<string | undefined, ObservedNumber>>();
  readonly #isGone: (queue: string) => boolean;

  /** `isGone` says whether there is no queue of that name any more. Counters are there all the same. */
  constructor(meter: Meter, family: MetricFamily, isGone: (queue: string) => boolean) {
    const isCounter = family.kind === "counter";
    this.#isGone = isCounter ? () => false : isGone;
    const instrument = isCounter
      ? meter.createObservableCounter(family.name, optionsOf(family))
      : meter.createObservableGauge(family.name, optionsOf(family));
    instrument.addCallback((result) => this.#observe(result));
  }

  /** One number for all queues of that name. */
  of(queue: string, level: string | undefined): ObservedNumber {
    let numbers = this.#numbers.get(queue);
    if (numbers === undefined) this.#numbers.set(queue, numbers = new Map());
    let number = numbers.get(level);
    if (number === undefined) {
      number = new ObservedNumber(level === undefined ? { name: queue } : { name: queue, priority: level });
      numbers.set(level, number);
    }
    return number;
  }

  /** What is gone is observed as 0 once, as an SDK may go on with the last value that it saw. */
  #observe(result: ObservableResult): void {
    for (const [queue, numbers] of this.#numbers) {
      const isGone = this.#isGone(queue);
      for (const number of numbers.values()) {
        const value = isGone ? 0 : number.value;
        if (!Number.isNaN(value)) result.observe(value, number.attributes);
      }
      if (isGone) this.#numbers.delete(queue);
    }
  }
}
