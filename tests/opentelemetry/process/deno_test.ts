/** Tests of Deno's built-in OpenTelemetry. */

import { assertEquals } from "@std/assert";
import { metricFamilies } from "@workqueue/core/metrics";
import { fileURLToPath } from "node:url";
import { ALL_PACKAGES } from "../../runtimes.ts";
import { attributesOf, CONSUMER, type Metric, OtlpReceiver } from "../otlp_receiver.ts";

const program = fileURLToPath(new URL("program.ts", import.meta.url));

Deno.test("opentelemetry: Deno exports metrics and spans by itself", async () => {
  await using receiver = await OtlpReceiver.start();
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "--config", ALL_PACKAGES, "-A", program],
    env: {
      OTEL_DENO: "true",
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_METRIC_EXPORT_INTERVAL: "100",
    },
    stdin: "piped",
  }).spawn();
  const done = "workqueue_work_duration_seconds";
  const expected = { adds: 2, retries: 1, depth: 0, delayed: 1, active: 0, concurrency: 1, failures: 1 };
  const families = Object.entries(expected).map(([method, value]) =>
    [metricFamilies[method as keyof typeof expected], value] as const
  );
  // On a busy machine, an export may lack some of the metrics.
  const isDone = (metrics: Record<string, Metric>) =>
    Number(metrics[done]?.histogram?.dataPoints[0]?.count) === 2 && families.every(([{ name }]) => name in metrics);
  // The second such export, because the first may have read the gauges before the last attempt ended.
  const handled = await receiver.until(() => receiver.metrics().filter(isDone)[1]);
  await child.stdin.close();
  assertEquals((await child.status).code, 0);

  for (const [{ name, help }, value] of families) {
    const { description, sum, gauge } = handled[name]!;
    const points = (sum ?? gauge)!.dataPoints.map((point) => [attributesOf(point), point.asDouble]);
    assertEquals([description, points], [help, [[{ name: "images" }, value]]]);
  }
  const givenUp = handled[metricFamilies.givenUp.name]!.sum!.dataPoints;
  assertEquals(
    Object.fromEntries(givenUp.map((point) => [attributesOf(point)["reason"], point.asDouble])),
    { maxRetries: 1, terminal: 0, shutdown: 0, stalled: 0, limiter: 0 },
  );
  const { unit, histogram } = handled[done]!;
  assertEquals([unit, histogram!.dataPoints[0]!.explicitBounds], ["s", [...metricFamilies.workDuration.buckets!]]);

  const spans = receiver.spans();
  const attempts = spans.filter(({ kind }) => kind === CONSUMER);
  assertEquals(
    attempts.map(attributesOf).map((given) => [
      given["messaging.destination.name"],
      given["messaging.message.id"],
      given["workqueue.outcome"],
      given["error.type"],
    ]),
    [
      ["images", "cat.jpg", "succeeded", undefined],
      ["images", "bad.jpg", "failed", "Error"],
    ],
  );
  const children = spans.filter(({ name }) => name === "resize");
  assertEquals(children.map(({ parentSpanId }) => parentSpanId), attempts.map(({ spanId }) => spanId));
});
