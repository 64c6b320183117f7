import type { Counter, Gauge, Histogram, MetricsProvider, SettableGauge } from "../contracts/metrics.ts";
import { metricFamilies } from "./families.ts";

const FAMILIES = /* @__PURE__ */ Object.values(metricFamilies);

/**
 * A {@linkcode MetricsProvider} that keeps what queues measure: for tests, and for a small program that
 * serves its metrics itself.
 *
 * @example In a test
 * ```ts
 * import { createWorkQueue, InMemoryMetrics } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const metrics = new InMemoryMetrics();
 * const queue = createWorkQueue<string>({ name: "images", metrics });
 * queue.add("a");
 * queue.add("a");
 *
 * assertEquals(metrics.value("workqueue_adds_total", "images"), 1);
 * assertEquals(metrics.value("workqueue_depth", "images"), 1);
 * ```
 *
 * @example For Prometheus
 * ```ts
 * import { createWorkQueue, InMemoryMetrics } from "@workqueue/core";
 * import { assertStringIncludes } from "@std/assert";
 *
 * const metrics = new InMemoryMetrics();
 * createWorkQueue<string>({ name: "images", metrics }).add("a");
 *
 * assertStringIncludes(metrics.toPrometheus(), `workqueue_adds_total{name="images"} 1`);
 * ```
 */
export class InMemoryMetrics implements MetricsProvider {
  /** The series of each family, by queue. */
  readonly #series = new Map<string, Map<string, Series>>();

  /** Makes the metric `workqueue_depth` of a queue. */
  depth(queue: string): Gauge {
    return this.#add("depth", queue);
  }

  /** Makes the metric `workqueue_adds_total` of a queue. */
  adds(queue: string): Counter {
    return this.#add("adds", queue);
  }

  /** Makes the metric `workqueue_queue_duration_seconds` of a queue. */
  queueLatency(queue: string): Histogram {
    return this.#add("queueLatency", queue);
  }

  /** Makes the metric `workqueue_work_duration_seconds` of a queue. */
  workDuration(queue: string): Histogram {
    return this.#add("workDuration", queue);
  }

  /** Makes the metric `workqueue_unfinished_work_seconds` of a queue. */
  unfinishedWork(queue: string): SettableGauge {
    return this.#add("unfinishedWork", queue);
  }

  /** Makes the metric `workqueue_longest_running_processor_seconds` of a queue. */
  longestRunningProcessor(queue: string): SettableGauge {
    return this.#add("longestRunningProcessor", queue);
  }

  /** Makes the metric `workqueue_retries_total` of a queue. */
  retries(queue: string): Counter {
    return this.#add("retries", queue);
  }

  /**
   * Reads a metric.
   *
   * @param metric The name under which Kubernetes exports it, such as `workqueue_depth`.
   * @param queue The name of the queue.
   * @returns The value; of a histogram, the sum of what was observed. `undefined` if no such queue is measured.
   */
  value(metric: string, queue: string): number | undefined {
    return this.#find(metric, queue)?.value;
  }

  /**
   * Reads how many values a histogram has observed.
   *
   * @param metric The name under which Kubernetes exports it, such as `workqueue_work_duration_seconds`.
   * @param queue The name of the queue.
   * @returns The number of values. `undefined` if no such queue is measured.
   */
  count(metric: string, queue: string): number | undefined {
    return this.#find(metric, queue)?.count;
  }

  /**
   * Prints everything in Prometheus' [text format](https://prometheus.io/docs/instrumenting/exposition_formats/).
   *
   * @returns The text, to be served as `text/plain; version=0.0.4`.
   */
  toPrometheus(): string {
    const lines: string[] = [];
    for (const { name, kind, help } of FAMILIES) {
      const seriesByQueue = this.#series.get(name);
      if (seriesByQueue === undefined) continue;
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${kind}`);
      for (const [queue, series] of seriesByQueue) {
        const label = `name="${escapeLabel(queue)}"`;
        if (kind === "histogram") lines.push(...series.bucketLines(name, label));
        else lines.push(`${name}{${label}} ${series.value}`);
      }
    }
    return lines.map((line) => line + "\n").join("");
  }

  #find(metric: string, queue: string): Series | undefined {
    return this.#series.get(metric)?.get(queue);
  }

  /** Two queues of one name add to the same series, as they would in Prometheus. */
  #add(method: keyof MetricsProvider, queue: string): Series {
    const { name, buckets = [] } = metricFamilies[method];
    let seriesByQueue = this.#series.get(name);
    if (seriesByQueue === undefined) this.#series.set(name, seriesByQueue = new Map());
    let series = seriesByQueue.get(queue);
    if (series === undefined) seriesByQueue.set(queue, series = new Series(buckets));
    return series;
  }
}

/** One metric of one queue. It is of every kind at once; which it is used as, its family says. */
class Series implements Gauge, Counter, Histogram, SettableGauge {
  value = 0;
  count = 0;
  /** The buckets' upper bounds, and how many observed values fell between each of them and the one below. */
  readonly #bounds: readonly number[];
  readonly #buckets: number[];

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.#buckets = bounds.map(() => 0);
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

  observe(value: number): void {
    this.value += value;
    this.count++;
    const bucket = this.#bounds.findIndex((bound) => value <= bound);
    if (bucket !== -1) this.#buckets[bucket]!++;
  }

  bucketLines(name: string, label: string): string[] {
    let upToHere = 0;
    const lines = this.#bounds.map((bound, i) => {
      upToHere += this.#buckets[i]!;
      return `${name}_bucket{${label},le="${asGoPrints(bound)}"} ${upToHere}`;
    });
    return [
      ...lines,
      `${name}_bucket{${label},le="+Inf"} ${this.count}`,
      `${name}_sum{${label}} ${this.value}`,
      `${name}_count{${label}} ${this.count}`,
    ];
  }
}

function escapeLabel(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

/** Go, and so Prometheus, writes small numbers with an exponent of two digits. */
function asGoPrints(bound: number): string {
  return bound < 1e-4 ? bound.toExponential().replace(/-(\d)$/, "-0$1") : String(bound);
}
