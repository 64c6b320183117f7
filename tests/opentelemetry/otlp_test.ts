/** Tests of metrics as an OpenTelemetry collector receives them. */

import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-http";
import { AggregationTemporality, MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { assertEquals } from "@std/assert";
import { createDefaultItemLimiter, createRateLimitingQueue, runWorkers } from "@workqueue/core";
import { metricFamilies, type MetricsProvider } from "@workqueue/core/metrics";
import { openTelemetryMetrics } from "@workqueue/opentelemetry";
import { HandClock } from "../helpers.ts";
import { flush } from "../queue_helpers.ts";
import { attributesOf, CUMULATIVE, DELTA, type Metric, OtlpReceiver } from "./otlp_receiver.ts";

const HOUR = 3_600_000; // so long that nothing is exported unless a test requests it

/** Metrics that are exported twice: totals to one path, deltas to another. */
class SentMetrics implements AsyncDisposable {
  readonly metrics: Required<MetricsProvider>;
  readonly #provider: MeterProvider;
  readonly #receiver: OtlpReceiver;

  private constructor(receiver: OtlpReceiver) {
    const reader = (path: string, temporalityPreference: AggregationTemporality) =>
      new PeriodicExportingMetricReader({
        exporter: new OTLPMetricExporter({ url: receiver.url + path, temporalityPreference }),
        exportIntervalMillis: HOUR,
      });
    this.#receiver = receiver;
    this.#provider = new MeterProvider({
      readers: [reader("/total", AggregationTemporality.CUMULATIVE), reader("/delta", AggregationTemporality.DELTA)],
    });
    this.metrics = openTelemetryMetrics(this.#provider.getMeter("workqueue"));
  }

  static async start(): Promise<SentMetrics> {
    return new SentMetrics(await OtlpReceiver.start());
  }

  /** Exports the metrics. Returns the exported metrics by name, or empty objects if nothing was exported. */
  async export(): Promise<{ total: Record<string, Metric>; delta: Record<string, Metric> }> {
    const came = [this.#receiver.metrics("/total").length, this.#receiver.metrics("/delta").length];
    await this.#provider.forceFlush();
    return {
      total: this.#receiver.metrics("/total")[came[0]!] ?? {},
      delta: this.#receiver.metrics("/delta")[came[1]!] ?? {},
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#provider.shutdown();
    await this.#receiver[Symbol.asyncDispose]();
  }
}

/** Returns the values of a counter or gauge, by queue. */
function valuesOf(metric: Metric | undefined): Record<string, number | undefined> {
  const points = (metric?.sum ?? metric?.gauge)?.dataPoints ?? [];
  // For given-up items, these tests check only the reason `maxRetries`.
  const shown = points.filter((point) => ["maxRetries", undefined].includes(attributesOf(point)["reason"] as string));
  return Object.fromEntries(shown.map((point) => [attributesOf(point)["name"], point.asDouble]));
}

Deno.test("otlp: names, units, kinds and attributes are right", async () => {
  await using sent = await SentMetrics.start();
  const { metrics } = sent;
  metrics.depth("images").inc();
  metrics.priorityDepth("images", "high").inc();
  metrics.adds("images").inc();
  metrics.failures("images").inc();
  metrics.concurrency("images").set(10);
  metrics.oldestReady("images").set(1.5);
  metrics.workDuration("images").observe(0.05);

  const { total } = await sent.export();
  const found = Object.values(total).map(({ name, description, unit, sum, gauge, histogram }) => {
    const kind = sum ? `counter ${sum.aggregationTemporality} ${sum.isMonotonic}` : gauge ? "gauge" : "histogram";
    const point = (sum ?? gauge ?? histogram)!.dataPoints[0]!;
    return [name, description, unit, kind, attributesOf(point), point.asDouble ?? Number(point.count)];
  });
  const { depth, priorityDepth, adds, failures, concurrency, oldestReady, workDuration } = metricFamilies;
  const images = { name: "images" };
  assertEquals(
    found.sort(),
    [
      [adds.name, adds.help, "{add}", `counter ${CUMULATIVE} true`, images, 1],
      [concurrency.name, concurrency.help, "{handler}", "gauge", images, 10],
      [depth.name, depth.help, "{item}", "gauge", images, 1],
      [priorityDepth.name, priorityDepth.help, "{item}", "gauge", { ...images, priority: "high" }, 1],
      [failures.name, failures.help, "{attempt}", `counter ${CUMULATIVE} true`, images, 1],
      [oldestReady.name, oldestReady.help, "s", "gauge", images, 1.5],
      [workDuration.name, workDuration.help, "s", "histogram", images, 1],
    ].sort(),
  );
  const { explicitBounds, bucketCounts } = total[workDuration.name]!.histogram!.dataPoints[0]!;
  assertEquals(explicitBounds, [...workDuration.buckets!]);
  assertEquals(bucketCounts!.map(Number), [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0]);
});

Deno.test("otlp: totals and differences of counters are exact, export after export", async () => {
  await using sent = await SentMetrics.start();
  const adds = sent.metrics.adds("images");
  const latency = sent.metrics.queueLatency("images");
  let sum = 0;
  for (const count of [3, 0, 5]) {
    for (let i = 0; i < count; i++) {
      adds.inc();
      latency.observe(1);
    }
    sum += count;
    const { total, delta } = await sent.export();
    assertEquals(valuesOf(total["workqueue_adds_total"]), { images: sum });
    assertEquals(valuesOf(delta["workqueue_adds_total"]), { images: count });
    assertEquals(delta["workqueue_adds_total"]!.sum!.aggregationTemporality, DELTA);
    const [point] = total["workqueue_queue_duration_seconds"]!.histogram!.dataPoints;
    assertEquals(Number(point!.count), sum);
  }
});

const GAUGES = Object.values(metricFamilies).filter(({ kind, name }) => kind === "gauge" && !name.includes("priority"));

/** Sets every gauge of a queue to 1, as a queue with a problem would. */
function fill(metrics: Required<MetricsProvider>, queue: string): void {
  metrics.depth(queue).inc();
  metrics.active(queue).inc();
  for (
    const method of [
      "unfinishedWork",
      "longestRunningProcessor",
      "delayed",
      "blocked",
      "oldestReady",
      "concurrency",
    ] as const
  ) {
    metrics[method](queue).set(1);
  }
}

function gaugesOf(exported: Record<string, Metric>, queue: string): (number | undefined)[] {
  return GAUGES.map(({ name }) => valuesOf(exported[name])[queue]);
}

Deno.test("otlp: the gauges of a removed queue are 0, and then disappear", async () => {
  await using sent = await SentMetrics.start();
  const { metrics } = sent;
  fill(metrics, "images");
  fill(metrics, "videos");
  metrics.priorityDepth("images", "high").inc();
  const ones = GAUGES.map(() => 1);
  assertEquals(gaugesOf((await sent.export()).delta, "images"), ones);

  metrics.gone("images");
  const last = await sent.export();
  const zeros = GAUGES.map(() => 0);
  assertEquals(gaugesOf(last.delta, "images"), zeros);
  assertEquals(gaugesOf(last.total, "images"), zeros);
  assertEquals(valuesOf(last.delta["workqueue_depth_by_priority"]), { images: 0 });

  const after = await sent.export();
  assertEquals(gaugesOf(after.delta, "images"), GAUGES.map(() => undefined));
  assertEquals(after.delta["workqueue_depth_by_priority"], undefined);
  assertEquals(gaugesOf(after.total, "images"), zeros); // the SDK exports the zeros again
  assertEquals(gaugesOf(after.delta, "videos"), ones);
});

Deno.test("otlp: if a queue's name is reused before its removal was exported, its metrics continue", async () => {
  await using sent = await SentMetrics.start();
  const { metrics } = sent;
  metrics.depth("images").inc();
  metrics.gone("images");
  metrics.active("images"); // a pool starts
  assertEquals(valuesOf((await sent.export()).delta["workqueue_depth"]), { images: 1 });
  metrics.gone("images");
  assertEquals(valuesOf((await sent.export()).delta["workqueue_depth"]), { images: 0 });
  assertEquals(valuesOf((await sent.export()).delta["workqueue_depth"]), {});
});

Deno.test("otlp: counters of a removed queue stay, and continue when its name is reused; gauges begin at 0", async () => {
  await using sent = await SentMetrics.start();
  const { metrics } = sent;
  metrics.depth("images").inc();
  metrics.adds("images").inc();
  metrics.gone("images");
  assertEquals(valuesOf((await sent.export()).total["workqueue_adds_total"]), { images: 1 });
  await sent.export();

  metrics.depth("images");
  metrics.adds("images").inc();
  const { total, delta } = await sent.export();
  assertEquals(valuesOf(total["workqueue_adds_total"]), { images: 2 });
  assertEquals(valuesOf(delta["workqueue_adds_total"]), { images: 1 });
  assertEquals(valuesOf(total["workqueue_depth"]), { images: 0 });
});

Deno.test("otlp: a gauge without a known value is left out", async () => {
  await using sent = await SentMetrics.start();
  const waiting = sent.metrics.delayed("images");
  sent.metrics.delayed("videos");
  waiting.set(NaN);
  assertEquals(valuesOf((await sent.export()).total["workqueue_delayed"]), { videos: 0 });
  waiting.set(2);
  assertEquals(valuesOf((await sent.export()).delta["workqueue_delayed"]), { images: 2, videos: 0 });
  waiting.set(NaN);
  assertEquals(valuesOf((await sent.export()).delta["workqueue_delayed"]), { videos: 0 });
});

Deno.test("otlp: a pool is measured, and its gauges end with the queue", async () => {
  await using sent = await SentMetrics.start();
  const queue = createRateLimitingQueue<string>(createDefaultItemLimiter(), {
    name: "images",
    metrics: sent.metrics,
    clock: new HandClock(),
  });
  const endings: (() => void)[] = [];
  const handler = async (item: string) => {
    await new Promise<void>((resolve) => endings.push(resolve));
    if (item === "bad") throw new Error("a hiccup");
  };
  runWorkers(queue, handler, { concurrency: 3, maxRetries: 0, onError() {} });
  for (const item of ["good", "bad"]) queue.add(item);
  queue.addAfter("later", "1h");
  await flush();
  const values = (exported: Record<string, Metric>) =>
    (["active", "concurrency", "delayed", "failures", "givenUp", "adds"] as const).map((method) =>
      valuesOf(exported[metricFamilies[method].name])["images"]
    );
  assertEquals(values((await sent.export()).total), [2, 3, 1, 0, 0, 2]);

  for (const end of endings) end();
  await queue.shutDownWithDrain();
  await flush();
  assertEquals(values((await sent.export()).total), [0, 0, 0, 1, 1, 2]);
  const { delta } = await sent.export();
  assertEquals(values(delta), [undefined, undefined, undefined, 0, 0, 0]);
});
