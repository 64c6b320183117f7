import type { Histogram, MetricFamily } from "@workqueue/core/metrics";
import * as client from "prom-client";
import { type LabelledNumber, Numbers } from "./numbers.ts";

/** A metric of prom-client, with a series for each queue, or for each of a queue's priorities. */
export interface Instrument<N = unknown> {
  readonly metric: client.Metric;
  /** What a queue counts with. */
  of(queue: string, priority?: string): N;
  /** Ends the series of a queue. */
  remove(queue: string): void;
}

type Config = Pick<client.GaugeConfiguration<string>, "registers" | "aggregator">;

/** Makes a gauge of prom-client. A number that nobody knows now has no series. `collect` is called before it is read. */
export function createGauge(
  { name, help }: MetricFamily,
  config: Config,
  collect: () => void,
): Instrument<LabelledNumber> {
  const numbers = new Numbers();
  const metric = new client.Gauge({
    ...config,
    name,
    help,
    labelNames: LABELS,
    collect() {
      collect();
      for (const { labels, value } of numbers.all()) {
        if (Number.isNaN(value)) this.remove({ ...labels });
        else this.set({ ...labels }, value);
      }
    },
  });
  return { metric, of: (...labels) => numbers.of(...labels), remove: (queue) => removeSeries(metric, numbers, queue) };
}

/** Makes a counter of prom-client. */
export function createCounter(
  { name, help }: MetricFamily,
  config: Config,
  collect: () => void,
): Instrument<LabelledNumber> {
  const numbers = new Numbers();
  const metric = new client.Counter({
    ...config,
    name,
    help,
    labelNames: LABELS,
    collect() {
      collect();
      for (const number of numbers.all()) {
        this.inc({ ...number.labels }, number.value);
        number.value = 0; // from here on prom-client knows of it
      }
    },
  });
  return { metric, of: (...labels) => numbers.of(...labels), remove: (queue) => removeSeries(metric, numbers, queue) };
}

/** Makes a histogram of prom-client. */
export function createHistogram(
  { name, help, buckets }: MetricFamily,
  config: Config,
  collect: () => void,
): Instrument<Histogram> {
  const metric = new client.Histogram({ ...config, name, help, labelNames: ["name"], buckets: [...buckets!], collect });
  const queues = new Set<string>();
  return {
    metric,
    of(queue) {
      if (!queues.has(queue)) metric.zero({ name: queue }); // rates need to see where it began
      queues.add(queue);
      return metric.labels({ name: queue });
    },
    remove(queue) {
      if (queues.delete(queue)) metric.remove({ name: queue });
    },
  };
}

const LABELS = ["name", "priority"];

function removeSeries(metric: client.Gauge | client.Counter, numbers: Numbers, queue: string): void {
  for (const labels of numbers.remove(queue)) metric.remove({ ...labels });
}
