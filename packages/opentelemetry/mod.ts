/**
 * OpenTelemetry metrics for work queues, and spans for the attempts of handlers.
 *
 * This package requires only `@opentelemetry/api`. The program's SDK, or the OpenTelemetry support that is built into
 * Deno, processes the metrics and spans.
 *
 * @module
 */

import "./core_version.ts"; // imported first, so that a wrong core version fails here and not in another module

export type { Meter, Tracer } from "./api.ts";
export { openTelemetryMetrics } from "./metrics.ts";
export { type TracedAddOptions, type TracedAdds, tracedAdds, type TracedRemoteAdds } from "./traced_adds.ts";
export { tracedHandler, type TracedHandlerOptions } from "./traced_handler.ts";
// Types used by the types of this package, directly or indirectly.
export type * from "@workqueue/core";
