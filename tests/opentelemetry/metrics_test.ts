import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import {
  createDefaultItemLimiter,
  createRateLimitingQueue,
  createWorkQueue,
  type MetricsProvider,
} from "@workqueue/core";
import { metricFamilies } from "@workqueue/core/metrics";
import { type Meter, openTelemetryMetrics } from "@workqueue/opentelemetry";
import { HandClock } from "../helpers.ts";
import { take } from "../queue_helpers.ts";
import { ScrapedMeter } from "./scraped_meter.ts";

/** Records a value in every metric of a queue. */
function useAll(metrics: Required<MetricsProvider>, queue: string): void {
  for (const count of [metrics.depth, metrics.adds, metrics.retries, metrics.active, metrics.failures]) {
    count.call(metrics, queue).inc();
  }
  metrics.priorityDepth(queue, "high").inc();
  metrics.givenUp(queue, "terminal").inc();
  for (const observe of [metrics.queueLatency, metrics.workDuration]) observe.call(metrics, queue).observe(0.05);
  metrics.unfinishedWork(queue).set(1.5);
  metrics.longestRunningProcessor(queue).set(1.5);
  metrics.oldestReady(queue).set(1.5);
  metrics.delayed(queue).set(3);
  metrics.blocked(queue).set(3);
  metrics.concurrency(queue).set(3);
}

Deno.test("opentelemetry: Prometheus scrapes every metric under Kubernetes' name, with its help and kind", async () => {
  await using scraped = await ScrapedMeter.start();
  useAll(openTelemetryMetrics(scraped.meter), "images");
  const lines = await scraped.scrape();
  const comments = lines.filter((line) => /^# (HELP|TYPE)/.test(line));
  const expected = Object.values(metricFamilies).flatMap(({ name, help, kind }) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${kind}`,
  ]);
  assertEquals(comments.sort(), expected.sort());
  const names = new Set(lines.filter((line) => !line.startsWith("#")).map((line) => /^\w+/.exec(line)![0]));
  const series = Object.values(metricFamilies).flatMap(({ name, kind }) =>
    kind === "histogram" ? ["bucket", "count", "sum"].map((part) => `${name}_${part}`) : [name]
  );
  assertEquals([...names].sort(), series.sort());
  assertEquals(scraped.complaints, []);
});

Deno.test("opentelemetry: the histograms have Kubernetes' buckets", async () => {
  await using scraped = await ScrapedMeter.start();
  const latency = openTelemetryMetrics(scraped.meter).queueLatency("images");
  for (const seconds of [0, 5e-9, 0.05, 0.05, 2000]) latency.observe(seconds);

  const buckets = await scraped.values("workqueue_queue_duration_seconds_bucket");
  const bounds = metricFamilies.queueLatency.buckets!;
  const expected = bounds.map((bound) => [`name="images",le="${bound}"`, bound < 0.05 ? 2 : 4]);
  assertEquals(buckets, Object.fromEntries([...expected, ['name="images",le="+Inf"', 5]]));
  assertEquals(await scraped.values("workqueue_queue_duration_seconds_count"), { 'name="images"': 5 });
  assertEquals(await scraped.values("workqueue_queue_duration_seconds_sum"), { 'name="images"': 2000.100000005 });
});

Deno.test("opentelemetry: the values of a queue are measured at the time of the scrape", async () => {
  await using scraped = await ScrapedMeter.start();
  const clock = new HandClock();
  const metrics = openTelemetryMetrics(scraped.meter);
  const queue = createRateLimitingQueue<string>(createDefaultItemLimiter(), {
    name: "images",
    metrics,
    clock,
    priorityLevels: { high: 10 },
  });
  const value = async (metric: string) => (await scraped.values(metric))['name="images"'];
  queue.add("a");
  queue.add("a");
  queue.add("b", { priority: 10 });
  queue.addAfter("c", "1m");
  assertEquals(await value("workqueue_adds_total"), 2);
  assertEquals(await value("workqueue_depth"), 2);
  assertEquals(await value("workqueue_retries_total"), 1);
  assertEquals(await scraped.values("workqueue_depth_by_priority"), { 'name="images",priority="high"': 1 });

  clock.time += 2000;
  const lease = take(queue);
  assertEquals(await value("workqueue_depth"), 1);
  assertEquals(await value("workqueue_queue_duration_seconds_sum"), 2);
  clock.time += 3000;
  queue.done(lease.item);
  assertEquals(await value("workqueue_work_duration_seconds_sum"), 3);
  assertEquals(await value("workqueue_work_duration_seconds_count"), 1);
  assertEquals(scraped.complaints, []);
  queue.shutDown();
});

Deno.test("opentelemetry: providers of one meter, and queues with one name, add up without a warning", async () => {
  await using scraped = await ScrapedMeter.start();
  const metrics = openTelemetryMetrics(scraped.meter);
  assertStrictEquals(openTelemetryMetrics(scraped.meter), metrics);
  for (const name of ["images", "images", "videos"]) {
    createWorkQueue<string>({ name, metrics: openTelemetryMetrics(scraped.meter) }).add("a");
  }
  const expected = { 'name="images"': 2, 'name="videos"': 1 };
  assertEquals(await scraped.values("workqueue_depth"), expected);
  assertEquals(await scraped.values("workqueue_adds_total"), expected);
  assertEquals(scraped.complaints, []);
});

Deno.test("opentelemetry: names of queues may be any text", async () => {
  await using scraped = await ScrapedMeter.start();
  const metrics = openTelemetryMetrics(scraped.meter);
  for (const name of ["", "__proto__", 'a "b"\n\\c']) metrics.adds(name).inc();
  assertEquals(await scraped.values("workqueue_adds_total"), {
    'name=""': 1,
    'name="__proto__"': 1,
    'name="a \\"b\\"\\n\\\\c"': 1,
  });
});

Deno.test("opentelemetry: a value that is not a meter is refused", () => {
  const words = "Cannot create metrics: 'meter' must be a Meter of @opentelemetry/api, got";
  for (const [meter, received] of [[undefined, "undefined"], [{}, "an object"], ["meter", '"meter"']]) {
    assertThrows(() => openTelemetryMetrics(meter as Meter), TypeError, `${words} ${received}`);
  }
});
