import { LabelledNumber, LabelledNumbers } from "@workqueue/core/internal";
import type { Histogram, MetricFamily } from "@workqueue/core/metrics";
import * as client from "prom-client";

/**
 * prom-client metric with a series for each queue, or for each combination of a queue and a value of the family's
 * label.
 */
export interface Instrument<N = unknown> {
  readonly metric: client.Metric;
  /** Returns a series of a queue. */
  of(queue: string, label?: string): N;
  /** Removes all series of a queue. */
  remove(queue: string): void;
}

type Config = Pick<client.GaugeConfiguration<string>, "registers" | "aggregator">;

/**
 * Creates a prom-client gauge. A number that is unknown has no series. `collect` is called before the gauge is read.
 */
export function createGauge(family: MetricFamily, config: Config, collect: () => void): Instrument<LabelledNumber> {
  return createNumbers((whole) => new client.Gauge(whole), family, config, collect, (gauge, { labels, value }) => {
    if (Number.isNaN(value)) gauge.remove({ ...labels });
    else gauge.set({ ...labels }, value);
  });
}

/** Creates a prom-client counter. `collect` is called before the counter is read. */
export function createCounter(family: MetricFamily, config: Config, collect: () => void): Instrument<LabelledNumber> {
  return createNumbers((whole) => new client.Counter(whole), family, config, collect, (counter, number) => {
    counter.inc({ ...number.labels }, number.value);
    number.value = 0; // `inc` has added the value to the counter
  });
}

/**
 * Creates a metric that copies plain numbers to prom-client whenever Prometheus reads the metric. Direct updates would
 * be slower: prom-client looks up the labels in each call, and updates are more frequent than reads.
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

/** Creates a prom-client histogram. `collect` is called before the histogram is read. */
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
      if (!queues.has(queue)) metric.zero({ name: queue }); // a rate requires an initial value
      queues.add(queue);
      return metric.labels({ name: queue });
    },
    remove(queue) {
      if (queues.delete(queue)) metric.remove({ name: queue });
    },
  };
}
