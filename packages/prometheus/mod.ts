/**
 * Prometheus metrics for work queues, in `prom-client`, under the names that Kubernetes uses.
 *
 * @module
 */

import "./core_version.ts"; // imported first, so that a wrong core version fails here and not in another module

export { controllerMetrics, type PrometheusControllerMetrics } from "./controller_metrics.ts";
export { prometheusMetrics, type PrometheusOptions, type Register } from "./prometheus_metrics.ts";
// Types used by the types of this package.
export type { Duration } from "@workqueue/core";
export type { Counter, Gauge, GiveUpReason, Histogram, MetricsProvider, SettableGauge } from "@workqueue/core/metrics";
