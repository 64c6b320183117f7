import type { MetricsProvider } from "@workqueue/core";
import { adaptMetrics } from "@workqueue/core/metrics";
import { Counter, Gauge, Histogram, register as globalRegister } from "prom-client";
import { prometheusMetrics, type PrometheusOptions, type Register } from "./prometheus_metrics.ts";

/** Buckets of controller-runtime, in seconds. */
const BUCKETS = [
  ...[0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9],
  ...[1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 50, 60],
];

/** Metrics of the controllers and caches of `@workqueue/kubernetes`, and of their queues. */
export interface PrometheusControllerMetrics extends Required<MetricsProvider> {
  /** Notes the end of an attempt, after some seconds. */
  reconciled(controller: string, result: "success" | "error" | "requeue" | "requeue_after", seconds: number): void;
  /** Notes that a list or a watch of a kind ended and begins again. */
  watchRestarted(kind: string): void;
  /** Gets the function that returns the number of objects in a cache of a kind. */
  cacheSize(kind: string, read: () => number): void;
  /** Notes whether this process holds a lease. */
  leading(lease: string, isLeading: boolean): void;
}

/** Metrics by register. Another call with the same register returns the same metrics. */
const created = new WeakMap<Register, PrometheusControllerMetrics>();

/**
 * Creates the metrics of controllers in a register of prom-client: those of {@linkcode prometheusMetrics} for their
 * queues, and the following ones, under the names of controller-runtime where it has the metric.
 *
 * | metric                                      | labels                 |
 * | ------------------------------------------- | ---------------------- |
 * | `controller_runtime_reconcile_total`        | `controller`, `result` |
 * | `controller_runtime_reconcile_errors_total` | `controller`           |
 * | `controller_runtime_reconcile_time_seconds` | `controller`           |
 * | `leader_election_master_status`             | `name`                 |
 * | `workqueue_watch_restarts_total`            | `kind`                 |
 * | `workqueue_cache_objects`                   | `kind`                 |
 *
 * @example Usage
 * ```ts
 * import { controllerMetrics } from "@workqueue/prometheus";
 * import { assertStringIncludes } from "@std/assert";
 * import { register } from "prom-client";
 *
 * const metrics = controllerMetrics(); // for the option `metrics` of a Manager
 * metrics.reconciled("website", "success", 0.2);
 *
 * const line = 'controller_runtime_reconcile_total{controller="website",result="success"} 1';
 * assertStringIncludes(await register.metrics(), line);
 * ```
 *
 * @param register The register for the metrics. Default: the global `register` of prom-client.
 * @param options Options of the metrics of queues.
 * @returns The metrics, for the option `metrics` of a manager.
 * @throws {TypeError} If `register` is not a register, or if an option is unknown or of the wrong type.
 * @throws {RangeError} If an option is out of range.
 * @throws {Error} If the register already contains another metric with the name of one of these metrics.
 */
export function controllerMetrics(
  register: Register = globalRegister,
  options: PrometheusOptions = {},
): PrometheusControllerMetrics {
  const queues = prometheusMetrics(register, options); // checks the arguments
  const existing = created.get(register);
  if (existing !== undefined) return existing;
  const registers = [register as never];
  const attempts = new Counter({
    name: "controller_runtime_reconcile_total",
    help: "Total number of reconciliations per controller",
    labelNames: ["controller", "result"],
    registers,
  });
  const errors = new Counter({
    name: "controller_runtime_reconcile_errors_total",
    help: "Total number of reconciliation errors per controller",
    labelNames: ["controller"],
    registers,
  });
  const durations = new Histogram({
    name: "controller_runtime_reconcile_time_seconds",
    help: "Length of time per reconciliation per controller",
    labelNames: ["controller"],
    buckets: BUCKETS,
    registers,
  });
  const leader = new Gauge({
    name: "leader_election_master_status",
    help: "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 indicates master.",
    labelNames: ["name"],
    aggregator: "sum",
    registers,
  });
  const restarts = new Counter({
    name: "workqueue_watch_restarts_total",
    help: "Number of lists and watches that ended and began again",
    labelNames: ["kind"],
    registers,
  });
  const sizes = new Map<string, (() => number)[]>();
  new Gauge({
    name: "workqueue_cache_objects",
    help: "Number of objects in the caches of a kind",
    labelNames: ["kind"],
    registers,
    collect() {
      for (const [kind, reads] of sizes) this.set({ kind }, reads.reduce((sum, read) => sum + read(), 0));
    },
  });
  const metrics = adaptMetrics({
    ...queues,
    reconciled(controller: string, result: "success" | "error" | "requeue" | "requeue_after", seconds: number) {
      attempts.inc({ controller, result });
      errors.inc({ controller }, result === "error" ? 1 : 0);
      durations.observe({ controller }, seconds);
    },
    watchRestarted: (kind: string) => restarts.inc({ kind }),
    cacheSize(kind: string, read: () => number) {
      const reads = sizes.get(kind);
      if (reads === undefined) sizes.set(kind, [read]);
      else reads.push(read);
    },
    leading: (name: string, isLeading: boolean) => leader.set({ name }, isLeading ? 1 : 0),
  });
  created.set(register, metrics);
  return metrics;
}
