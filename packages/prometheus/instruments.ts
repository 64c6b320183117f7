import { LabelledNumber, LabelledNumbers } from "@workqueue/core/internal";
import type { Histogram, MetricFamily } from "@workqueue/core/metrics";
import * as client from "prom-client";

/** Metric of prom-client, with a series for each queue or for each value of the family's label. */
export interface Instrument<N = unknown> {
  readonly metric: client.Metric;
  /** Returns the series of a queue. */
  of(queue: string, label?: string): N;
  /** Removes the series of a queue. */
  remove(queue: string): void;
}

type Config = Pick<client.GaugeConfiguration<string>, "registers" | "aggregator">;

/** Creates a gauge of prom-client. An unknown number has no series. `collect` is called before the gauge is read. */
export function createGauge(family: MetricFamily, config: Config, collect: () => void): Instrument<LabelledNumber> {
  return createNumbers((whole) => new client.Gauge(whole), family, config, collect, (gauge, { labels, value }) => {
    if (Number.isNaN(value)) gauge.remove({ ...labels });
    else gauge.set({ ...labels }, value);
  });
}

/** Creates a counter of prom-client. `collect` is called before the counter is read. */
export function createCounter(family: MetricFamily, config: Config, collect: () => void): Instrument<LabelledNumber> {
  return createNumbers((whole) => new client.Counter(whole), family, config, collect, (counter, number) => {
    counter.inc({ ...number.labels }, number.value);
    number.value = 0; // prom-client has added it
  });
}

/**
 * Creates a metric that copies plain numbers to prom-client whenever it is read. prom-client looks up the labels at
 * each call, and queues count more often than Prometheus scrapes.
 */
function createNumbers<M extends client.Gauge | client.Counter>(
  make: (whole: Config & { name: string; help: string; labelNames: string[]; collect(): void }) => M,
  { name, help, label }: MetricFamily,
  config: Config,
  collect: () => void,
  show: (metric: M, number: LabelledNumber) => void,
): Instrument<LabelledNumber> {
  const numbers = new LabelledNumbers(label, (labels) => new LabelledNumber(labels));
  const metric: M = make({
    ...config,
    name,
    help,
    labelNames: label === undefined ? ["name"] : ["name", label],
    collect() {
      collect();
      for (const number of numbers.all()) show(metric, number);
    },
  });
  return {
    metric,
    of: (...labels) => numbers.of(...labels),
    remove(queue) {
      for (const { labels } of numbers.remove(queue)) metric.remove({ ...labels });
    },
  };
}

/** Creates a histogram of prom-client. `collect` is called before the histogram is read. */
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
      if (!queues.has(queue)) metric.zero({ name: queue }); // rates need the initial value
      queues.add(queue);
      return metric.labels({ name: queue });
    },
    remove(queue) {
      if (queues.delete(queue)) metric.remove({ name: queue });
    },
  };
}
