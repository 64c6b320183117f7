import { LabelledNumber, LabelledNumbers, type Labels } from "../base/labelled_numbers.ts";
import type { GiveUpReason } from "../contracts/handler.ts";
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
export class InMemoryMetrics implements Required<Omit<MetricsProvider, "gone">> {
  /** The series of each family, by its name. */
  readonly #series = new Map<string, LabelledNumbers<Series>>();

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

  /** Makes the metric `workqueue_depth_by_priority` of a queue and one of its levels. */
  priorityDepth(queue: string, level: string): Gauge {
    return this.#add("priorityDepth", queue, level);
  }

  /** Makes the metric `workqueue_delayed` of a queue. */
  delayed(queue: string): SettableGauge {
    return this.#add("delayed", queue);
  }

  /** Makes the metric `workqueue_blocked` of a queue. */
  blocked(queue: string): SettableGauge {
    return this.#add("blocked", queue);
  }

  /** Makes the metric `workqueue_oldest_ready_seconds` of a queue. */
  oldestReady(queue: string): SettableGauge {
    return this.#add("oldestReady", queue);
  }

  /** Makes the metric `workqueue_active` of a queue. */
  active(queue: string): Gauge {
    return this.#add("active", queue);
  }

  /** Makes the metric `workqueue_concurrency` of a queue. */
  concurrency(queue: string): SettableGauge {
    return this.#add("concurrency", queue);
  }

  /** Makes the metric `workqueue_failures_total` of a queue. */
  failures(queue: string): Counter {
    return this.#add("failures", queue);
  }

  /** Makes the metric `workqueue_given_up_total` of a queue and one of the reasons. */
  givenUp(queue: string, reason: GiveUpReason): Counter {
    return this.#add("givenUp", queue, reason);
  }

  /**
   * Reads a metric.
   *
   * @param metric The name under which Kubernetes exports it, such as `workqueue_depth`.
   * @param queue The name of the queue.
   * @param label The value of the metric's other label: the name of the priority of `workqueue_depth_by_priority`, the
   * reason of `workqueue_given_up_total`. By default the sum over all of them.
   * @returns The value; of a histogram, the sum of what was observed. `undefined` if no such queue is measured.
   */
  value(metric: string, queue: string, label?: string): number | undefined {
    const found = this.#find(metric, queue, label);
    return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
  }

  /**
   * Reads how many values a histogram has observed.
   *
   * @param metric The name under which Kubernetes exports it, such as `workqueue_work_duration_seconds`.
   * @param queue The name of the queue.
   * @returns The number of values. `undefined` if no such queue is measured.
   */
  count(metric: string, queue: string): number | undefined {
    return this.#find(metric, queue)[0]?.count;
  }

  /**
   * Prints everything in Prometheus' [text format](https://prometheus.io/docs/instrumenting/exposition_formats/).
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

  /** Two queues of one name add to the same series, as they would in Prometheus. */
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

/** Series of one metric, of every kind at once. Its family says which kind it is used as. */
class Series extends LabelledNumber implements Histogram {
  /** Number of observed values. `value` is their sum. */
  count = 0;
  /** The buckets' upper bounds, and how many observed values fell between each of them and the one below. */
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

/** Go, and so Prometheus, writes small numbers with an exponent of two digits. */
function asGoPrints(bound: number): string {
  return bound < 1e-4 ? bound.toExponential().replace(/-(\d)$/, "-0$1") : String(bound);
}
