/**
 * Prometheus metrics for work queues, in a register of `prom-client`, under the names that Kubernetes uses.
 *
 * @module
 */

import "./core_version.ts"; // first, so that no other module fails because of another core version

export { prometheusMetrics, type PrometheusOptions, type Register } from "./prometheus_metrics.ts";
// Types that the types of this package refer to.
export type { Duration } from "@workqueue/core";
export type { Counter, Gauge, GiveUpReason, Histogram, MetricsProvider, SettableGauge } from "@workqueue/core/metrics";
