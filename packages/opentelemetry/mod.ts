/**
 * What work queues measure, and a span for each attempt of a handler, in OpenTelemetry.
 *
 * It needs `@opentelemetry/api` alone. What becomes of metrics and spans is up to the SDK of the program, or to Deno,
 * which has one built in.
 *
 * @module
 */

import "./core_version.ts"; // first, so that no other module fails because of another core

export type { Meter, Tracer } from "./api.ts";
export { openTelemetryMetrics } from "./metrics.ts";
export { tracedHandler } from "./traced_handler.ts";
// Those that the types of this package are made of, and what these are made of.
export type { Counter, Gauge, GiveUpReason, Histogram, MetricsProvider, SettableGauge } from "@workqueue/core/metrics";
export type { Duration, Handler, HandlerContext, Outcome } from "@workqueue/core/workers";
