import type { MetricsProvider } from "../contracts/metrics.ts";

/** Description of a metric, for exporters. */
export interface MetricFamily {
  /**
   * Exported name, such as `workqueue_depth`. client-go's metrics have the names under which Kubernetes exports them.
   */
  readonly name: string;
  /** Meaning of the metric, in one sentence. */
  readonly help: string;
  /** Kind of metric: a counter only grows, a gauge goes up and down, and a histogram collects values. */
  readonly kind: "counter" | "gauge" | "histogram";
  /** Unit of the values. */
  readonly unit: "items" | "adds" | "attempts" | "handlers" | "seconds";
  /**
   * Label that the metric's series have in addition to `name`, the queue's name. Omitted if the metric has no other
   * label.
   */
  readonly label?: "priority" | "reason";
  /** Upper bounds of a histogram's buckets, in `unit`. */
  readonly buckets?: readonly number[];
}

/** Upper bounds of the histogram buckets that Kubernetes uses, in seconds: the powers of ten from 10 ns to 1000 s. */
const BUCKETS = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.1, 1, 10, 100, 1000];

/**
 * Metrics, keyed by the {@linkcode MetricsProvider} method that creates them: client-go's seven metrics, and others
 * that client-go does not have.
 */
export const metricFamilies: { readonly [Method in Exclude<keyof MetricsProvider, "gone">]: MetricFamily } = {
  depth: {
    name: "workqueue_depth",
    kind: "gauge",
    unit: "items",
    help: "Items that are still to be handed out, not counting delayed items.",
  },
  adds: {
    name: "workqueue_adds_total",
    kind: "counter",
    unit: "adds",
    help: "Adds that were not folded into an earlier add.",
  },
  queueLatency: {
    name: "workqueue_queue_duration_seconds",
    kind: "histogram",
    unit: "seconds",
    buckets: BUCKETS,
    help: "Seconds from an item's add until it is handed out.",
  },
  workDuration: {
    name: "workqueue_work_duration_seconds",
    kind: "histogram",
    unit: "seconds",
    buckets: BUCKETS,
    help: "Seconds from handing an item out until it is done.",
  },
  unfinishedWork: {
    name: "workqueue_unfinished_work_seconds",
    kind: "gauge",
    unit: "seconds",
    help: "Seconds that all processing items have been processing, in total.",
  },
  longestRunningProcessor: {
    name: "workqueue_longest_running_processor_seconds",
    kind: "gauge",
    unit: "seconds",
    help: "Seconds since the longest-processing item was handed out.",
  },
  retries: {
    name: "workqueue_retries_total",
    kind: "counter",
    unit: "adds",
    help: "Adds with a delay or through a rate limiter.",
  },
  priorityDepth: {
    name: "workqueue_depth_by_priority",
    kind: "gauge",
    unit: "items",
    label: "priority",
    help: "Items with a named priority that are still to be handed out, not counting delayed items.",
  },
  delayed: {
    name: "workqueue_delayed",
    kind: "gauge",
    unit: "items",
    help: "Items whose delay has not passed.",
  },
  blocked: {
    name: "workqueue_blocked",
    kind: "gauge",
    unit: "items",
    help: "Items whose delay has passed but that cannot be handed out yet. Part of workqueue_depth.",
  },
  oldestReady: {
    name: "workqueue_oldest_ready_seconds",
    kind: "gauge",
    unit: "seconds",
    help: "Seconds since the oldest ready item became ready.",
  },
  active: {
    name: "workqueue_active",
    kind: "gauge",
    unit: "handlers",
    help: "Handlers that are running.",
  },
  concurrency: {
    name: "workqueue_concurrency",
    kind: "gauge",
    unit: "handlers",
    help: "Maximum number of handlers that run at once.",
  },
  failures: {
    name: "workqueue_failures_total",
    kind: "counter",
    unit: "attempts",
    help: "Attempts that failed.",
  },
  givenUp: {
    name: "workqueue_given_up_total",
    kind: "counter",
    unit: "items",
    label: "reason",
    help: "Items that were given up, by reason.",
  },
};
