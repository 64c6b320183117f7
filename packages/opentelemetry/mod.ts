/**
 * OpenTelemetry metrics for work queues, and OpenTelemetry spans for attempts of handlers.
 *
 * This package requires only `@opentelemetry/api`. The program's SDK, or the OpenTelemetry support that is built into
 * Deno, processes the metrics and spans.
 *
 * @module
 */

import "./core_version.ts"; // first, so that no other module fails because of another core version

export type { Meter, Tracer } from "./api.ts";
export { openTelemetryMetrics } from "./metrics.ts";
export { tracedHandler } from "./traced_handler.ts";
// Types that the types of this package refer to, directly or indirectly.
export type { Counter, Gauge, GiveUpReason, Histogram, MetricsProvider, SettableGauge } from "@workqueue/core/metrics";
export type { Duration, Handler, HandlerContext, Outcome } from "@workqueue/core/workers";
