/**
 * Program without an OpenTelemetry SDK, because Deno has one built in. The program ends when its standard input ends.
 */

import { metrics, trace } from "@opentelemetry/api";
import { createDefaultItemLimiter, createRateLimitingQueue, runWorkers } from "@workqueue/core";
import { openTelemetryMetrics, tracedHandler } from "@workqueue/opentelemetry";

const tracer = trace.getTracer("workqueue");
const queue = createRateLimitingQueue<string>(createDefaultItemLimiter(), {
  name: "images",
  metrics: openTelemetryMetrics(metrics.getMeter("workqueue")),
});
for (const image of ["cat.jpg", "bad.jpg"]) queue.add(image);
queue.addAfter("dog.jpg", "1h");

const handler = tracedHandler<string>(tracer, async (image) => {
  await Promise.resolve();
  tracer.startActiveSpan("resize", (span) => span.end());
  if (image === "bad.jpg") throw new Error("not an image");
});
runWorkers(queue, handler, { maxRetries: 0, onError() {} });

await Array.fromAsync(Deno.stdin.readable);
await queue.shutDownWithDrain();
