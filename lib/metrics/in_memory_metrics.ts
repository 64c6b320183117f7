import { LabelledNumber, LabelledNumbers, type Labels } from "../base/labelled_numbers.ts";
import type { GiveUpReason } from "../contracts/handler.ts";
import type { Counter, Gauge, Histogram, MetricsProvider, SettableGauge } from "../contracts/metrics.ts";
import { adaptMetrics } from "./adapt_metrics.ts";
import { metricFamilies } from "./families.ts";

const FAMILIES = /* @__PURE__ */ Object.values(metricFamilies);

/**
 * {@linkcode MetricsProvider} that keeps measurements in memory, for tests and for small programs that serve their own
 * metrics.
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
export class InMemoryMetrics implements Required<Omit<MetricsProvider, "gone">> {
  /** Series, keyed by metric name. */
  readonly #series = new Map<string, LabelledNumbers<Series>>();

  /** Creates metrics without values. */
  constructor() {
    adaptMetrics(this);
  }

  /** Creates the metric `workqueue_depth` for a queue. */
  depth(queue: string): Gauge {
    return this.#add("depth", queue);
  }

  /** Creates the metric `workqueue_adds_total` for a queue. */
  adds(queue: string): Counter {
    return this.#add("adds", queue);
  }

  /** Creates the metric `workqueue_queue_duration_seconds` for a queue. */
  queueLatency(queue: string): Histogram {
    return this.#add("queueLatency", queue);
  }

  /** Creates the metric `workqueue_work_duration_seconds` for a queue. */
  workDuration(queue: string): Histogram {
    return this.#add("workDuration", queue);
  }

  /** Creates the metric `workqueue_unfinished_work_seconds` for a queue. */
  unfinishedWork(queue: string): SettableGauge {
    return this.#add("unfinishedWork", queue);
  }

  /** Creates the metric `workqueue_longest_running_processor_seconds` for a queue. */
  longestRunningProcessor(queue: string): SettableGauge {
    return this.#add("longestRunningProcessor", queue);
  }

  /** Creates the metric `workqueue_retries_total` for a queue. */
  retries(queue: string): Counter {
    return this.#add("retries", queue);
  }

  /** Creates the metric `workqueue_depth_by_priority` for one of a queue's priority levels. */
  priorityDepth(queue: string, level: string): Gauge {
    return this.#add("priorityDepth", queue, level);
  }

  /** Creates the metric `workqueue_delayed` for a queue. */
  delayed(queue: string): SettableGauge {
    return this.#add("delayed", queue);
  }

  /** Creates the metric `workqueue_blocked` for a queue. */
  blocked(queue: string): SettableGauge {
    return this.#add("blocked", queue);
  }

  /** Creates the metric `workqueue_oldest_ready_seconds` for a queue. */
  oldestReady(queue: string): SettableGauge {
    return this.#add("oldestReady", queue);
  }

  /** Creates the metric `workqueue_active` for a queue. */
  active(queue: string): Gauge {
    return this.#add("active", queue);
  }

  /** Creates the metric `workqueue_concurrency` for a queue. */
  concurrency(queue: string): SettableGauge {
    return this.#add("concurrency", queue);
  }

  /** Creates the metric `workqueue_failures_total` for a queue. */
  failures(queue: string): Counter {
    return this.#add("failures", queue);
  }

  /** Creates the metric `workqueue_given_up_total` for a queue and a reason. */
  givenUp(queue: string, reason: GiveUpReason): Counter {
    return this.#add("givenUp", queue, reason);
  }

  /**
   * Returns the value of a metric.
   *
   * @param metric Exported name of the metric, such as `workqueue_depth`.
   * @param queue Name of the queue.
   * @param label Value of the metric's other label: the name of a priority level for `workqueue_depth_by_priority`, or
   * a reason for `workqueue_given_up_total`. By default, the values of all series are summed.
   * @returns The value, in the metric's unit; for a histogram, the sum of the observed values. `undefined` if no queue
   * with this name is measured.
   */
  value(metric: string, queue: string, label?: string): number | undefined {
    const found = this.#find(metric, queue, label);
    return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
  }

  /**
   * Returns the number of values that a histogram has observed.
   *
   * @param metric Exported name of the histogram, such as `workqueue_work_duration_seconds`.
   * @param queue Name of the queue.
   * @returns The number of values. `undefined` if no queue with this name is measured.
   */
  count(metric: string, queue: string): number | undefined {
    return this.#find(metric, queue)[0]?.count;
  }

  /**
   * Formats all metrics in Prometheus' [text format](https://prometheus.io/docs/instrumenting/exposition_formats/).
   *
   * @returns The text, to be served as `text/plain; version=0.0.4`.
   */
  toPrometheus(): string {
    const lines: string[] = [];
    for (const { name, kind, help } of FAMILIES) {
      const numbers = this.#series.get(name);
      if (numbers === undefined) continue;
      lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${kind}`);
      for (const series of numbers.all()) {
        const labels = printLabels(series.labels);
        if (kind === "histogram") lines.push(...series.bucketLines(name, labels));
        else if (!Number.isNaN(series.value)) lines.push(`${name}{${labels}} ${series.value}`);
      }
    }
    return lines.map((line) => line + "\n").join("");
  }

  #find(metric: string, queue: string, label?: string): Series[] {
    return this.#series.get(metric)?.find(queue, label) ?? [];
  }

  /**
   * Returns a queue's series, and creates it if necessary. Queues with the same name share a series, as they would in
   * Prometheus.
   */
  #add(method: keyof typeof metricFamilies, queue: string, label?: string): Series {
    const family = metricFamilies[method];
    let numbers = this.#series.get(family.name);
    if (numbers === undefined) {
      numbers = new LabelledNumbers(family.label, (labels) => new Series(labels, family.buckets));
      this.#series.set(family.name, numbers);
    }
    return numbers.of(queue, label);
  }
}

/** Series of one metric. The class supports every kind of metric; the metric's family determines which kind is used. */
class Series extends LabelledNumber implements Histogram {
  /** Number of observed values. The field `value` contains the sum of these values. */
  count = 0;
  /** Upper bounds of the buckets, and the number of observed values in each bucket. */
  readonly #bounds: readonly number[];
  readonly #buckets: number[];

  constructor(labels: Labels, bounds: readonly number[] = []) {
    super(labels);
    this.#bounds = bounds;
    this.#buckets = bounds.map(() => 0);
  }

  observe(value: number): void {
    this.value += value;
    this.count++;
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && !(value <= bounds[bucket]!)) bucket++;
    if (bucket < bounds.length) this.#buckets[bucket]!++;
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

function printLabels(labels: Labels): string {
  return Object.entries(labels).map(([label, value]) => `${label}="${escapeLabel(value)}"`).join();
}

function escapeLabel(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}

/** Formats a bucket bound as Go and Prometheus do: small numbers have a two-digit exponent. */
function asGoPrints(bound: number): string {
  return bound < 1e-4 ? bound.toExponential().replace(/-(\d)$/, "-0$1") : String(bound);
}
