import type { MetricFamily } from "@workqueue/core/metrics";
import type { Labels, Merge, Sample, Series } from "./series.ts";

/**
 * A metric with the series of all queues. It is no `Gauge`, `Counter` or `Histogram` of prom-client, as these look for the
 * labels at each call, and a histogram takes no counts: registers ask a metric for no more than this.
 */
export class Family<S extends Series = Series> {
  /** Not constant: for OpenMetrics, prom-client takes the `_total` off it. */
  name: string;
  readonly help: string;
  readonly type: string;
  /** How prom-client puts the workers of a cluster together. */
  readonly aggregator: Merge;
  readonly #create: () => S;
  readonly #collect: () => void;
  readonly #series = new Map<string, { labels: Labels; series: S }>();

  /**
   * @param family What it is called, and what it says.
   * @param create Makes the numbers of a queue.
   * @param merge How those of several processes become one.
   * @param collect Called at each scrape, before the values are read.
   */
  constructor({ name, help, kind }: MetricFamily, create: () => S, merge: Merge, collect: () => void) {
    this.name = name;
    this.help = help;
    this.type = kind;
    this.aggregator = merge;
    this.#create = create;
    this.#collect = collect;
  }

  /** The numbers with these labels: those that are there, or new ones. */
  of(labels: Labels): S {
    const key = JSON.stringify([labels.name, labels.priority]);
    let found = this.#series.get(key);
    if (found === undefined) this.#series.set(key, found = { labels, series: this.#create() });
    return found.series;
  }

  /** Ends all series of a queue. */
  remove(queue: string): void {
    for (const [key, { labels }] of this.#series) if (labels.name === queue) this.#series.delete(key);
  }

  /** What a register asks for when it is scraped. */
  // deno-lint-ignore require-await -- as prom-client's own metrics have it
  async get(): Promise<{ name: string; help: string; type: string; aggregator: string; values: Sample[] }> {
    this.#collect();
    const { name, help, type, aggregator } = this;
    const values = [...this.#series.values()].flatMap(({ labels, series }) => series.samples(labels, name));
    return { name, help, type, aggregator, values };
  }

  /** Sets all to 0, as prom-client's `resetMetrics` asks for. */
  reset(): void {
    for (const { series } of this.#series.values()) series.reset();
  }
}
