import type { MetricsProvider } from "../contracts/metrics.ts";

/** What a metric is called, and what it says. Made for exporters. */
export interface MetricFamily {
  /** The name under which Kubernetes exports it. */
  readonly name: string;
  /** What it says, in a sentence. */
  readonly help: string;
  /** What becomes of its values: counted up, up and down, or collected. */
  readonly kind: "counter" | "gauge" | "histogram";
  /** What a value counts or measures. */
  readonly unit: "items" | "adds" | "attempts" | "handlers" | "seconds";
  /** What tells its series apart, beside `name`, the queue's name; none if left out. */
  readonly label?: "priority" | "reason";
  /** The upper bounds of a histogram's buckets, in that unit. */
  readonly buckets?: readonly number[];
}

/** Those of Kubernetes: 10 ns, then ten times as much each. */
const BUCKETS = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.1, 1, 10, 100, 1000];

/**
 * The metric that each method of a {@linkcode MetricsProvider} makes: client-go's seven, and what they leave in the
 * dark.
 */
export const metricFamilies: { readonly [Method in Exclude<keyof MetricsProvider, "gone">]: MetricFamily } = {
  depth: {
    name: "workqueue_depth",
    kind: "gauge",
    unit: "items",
    help: "Items that need work and are not handed out.",
  },
  adds: {
    name: "workqueue_adds_total",
    kind: "counter",
    unit: "adds",
    help: "Adds that were not folded into one before.",
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
    help: "Seconds of work in progress, over all items.",
  },
  longestRunningProcessor: {
    name: "workqueue_longest_running_processor_seconds",
    kind: "gauge",
    unit: "seconds",
    help: "Seconds that the longest-held item takes.",
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
    help: "Items that need work and are not handed out, of those that were added with a priority that has a name.",
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
    help: "Items whose delay has passed and that cannot be handed out yet: part of workqueue_depth.",
  },
  oldestReady: {
    name: "workqueue_oldest_ready_seconds",
    kind: "gauge",
    unit: "seconds",
    help: "Seconds that the oldest of the ready items has been ready.",
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
    help: "How many handlers may run at once.",
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
