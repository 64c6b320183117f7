/**
 * Program of a user who has just installed the package alongside OpenTelemetry's SDK. Every runtime runs the program.
 */

import { PrometheusExporter, PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { MeterProvider } from "@opentelemetry/sdk-metrics";
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import { createDefaultItemLimiter, createRateLimitingQueue, type Handler, runWorkers } from "@workqueue/core";
import { type Meter, openTelemetryMetrics, tracedHandler, type Tracer } from "@workqueue/opentelemetry";

const reader = new PrometheusExporter({ preventServerStart: true });
const meter: Meter = new MeterProvider({ readers: [reader] }).getMeter("workqueue");
const exporter = new InMemorySpanExporter();
const tracing = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
const tracer: Tracer = tracing.getTracer("workqueue");

const metrics = openTelemetryMetrics(meter);
const queue = createRateLimitingQueue<string>(createDefaultItemLimiter(), { name: "images", metrics });
for (const item of ["a", "b", "a"]) queue.add(item);
const handler: Handler<string> = (item, { attempt }) => {
  if (item === "b" && attempt === 1) throw new Error("a hiccup");
};
runWorkers(queue, tracedHandler(tracer, handler), { onError() {} });
await queue.whenIdle();

const { resourceMetrics } = await reader.collect();
const scraped = new PrometheusSerializer("", false, undefined, true, true).serialize(resourceMetrics).split("\n");
await tracing.forceFlush();
console.log(JSON.stringify({
  adds: scraped.filter((line) => line.startsWith("workqueue_adds_total")),
  buckets: scraped.filter((line) => line.startsWith("workqueue_work_duration_seconds_bucket")).length,
  outcomes: exporter.getFinishedSpans().map(({ attributes }) => attributes["workqueue.outcome"]),
  isSame: openTelemetryMetrics(meter) === metrics,
}));
queue.shutDown();
