import { assert, assertEquals, assertFalse, assertStrictEquals, assertStringIncludes, assertThrows } from "@std/assert";
import {
  createDefaultItemLimiter,
  createRateLimitingQueue,
  createWorkQueue,
  InMemoryMetrics,
  type MetricsProvider,
  runWorkers,
  type SettableGauge,
} from "@workqueue/core";
import { metricFamilies } from "@workqueue/core/metrics";
import { prometheusMetrics, type PrometheusOptions } from "@workqueue/prometheus";
import { FakeTime } from "@std/testing/time";
import { AggregatorRegistry, Counter, Gauge, type OpenMetricsContentType, register, Registry } from "prom-client";
import { metricsSuite } from "../contracts/metrics_suite.ts";

const registers = new WeakMap<MetricsProvider, Registry>();

metricsSuite("prometheus", () => {
  const register = new Registry();
  const metrics = prometheusMetrics(register);
  registers.set(metrics, register);
  return metrics;
}, async (metrics, metric, queue) => {
  const { values } = await registers.get(metrics)!.getSingleMetric(metric)!.get();
  const series: readonly { labels: object; value: number; metricName?: string }[] = values;
  const names = [undefined, metric, `${metric}_sum`];
  return series.find(({ labels, metricName }) =>
    (labels as { name?: string }).name === queue && names.includes(metricName)
  )?.value;
});

/** Returns the lines of a scrape that begin with `prefix`, without comments. */
async function scrape(register: Pick<Registry, "metrics">, prefix = "workqueue_"): Promise<string[]> {
  return (await register.metrics()).split("\n").filter((line) => line.startsWith(prefix));
}

/** Uses every metric. */
function use(metrics: Omit<Required<MetricsProvider>, "gone">, queue: string): void {
  for (
    const counter of [
      ...[metrics.adds(queue), metrics.retries(queue), metrics.failures(queue)],
      ...[metrics.givenUp(queue, "maxRetries"), metrics.givenUp(queue, "stalled")],
    ]
  ) {
    for (let i = 0; i < 3; i++) counter.inc();
  }
  for (const gauge of [metrics.depth(queue), metrics.active(queue), metrics.priorityDepth(queue, "urgent")]) {
    for (let i = 0; i < 3; i++) gauge.inc();
    gauge.dec();
  }
  for (const histogram of [metrics.queueLatency(queue), metrics.workDuration(queue)]) {
    // The values cover four cases: on a bound, just above a bound, below the first bound and above the last bound.
    for (const seconds of [0, 1e-8, 0.001, 0.0010001, 0.5, 1000, 1000.5, 5000]) histogram.observe(seconds);
  }
  metrics.unfinishedWork(queue).set(7.5);
  metrics.longestRunningProcessor(queue).set(2.5);
  metrics.oldestReady(queue).set(3.25);
  metrics.delayed(queue).set(4820);
  metrics.blocked(queue).set(12);
  metrics.concurrency(queue).set(10);
}

Deno.test("prometheus: a scrape returns what Kubernetes would export, for each family and each histogram bucket", async () => {
  const [register, inMemory] = [new Registry(), new InMemoryMetrics()];
  const metrics = prometheusMetrics(register);
  for (const queue of ["images", 'a"b\\c\nd']) {
    use(metrics, queue);
    use(inMemory, queue);
  }
  // The order of families and labels has no meaning, so both are sorted.
  const sorted = (text: string) =>
    text.split("\n").filter((line) => line !== "").map((line) =>
      // JavaScript and Go format some bounds differently, although the numbers are equal.
      line.replace(/le="(\d.*?)"/, (_, le) => `le="${Number(le)}"`).replace(
        /\{(.*)\}/,
        (_, labels) => `{${labels.match(/\w+="([^"\\]|\\.)*"/g).sort()}}`,
      )
    ).sort();
  const scraped = await register.metrics();
  assertEquals(sorted(scraped), sorted(inMemory.toPrometheus()));
  assertStringIncludes(scraped, `workqueue_work_duration_seconds_bucket{le="1e-8",name="images"} 2\n`);
});

Deno.test("prometheus: every family exists before there is a queue", async () => {
  const register = new Registry();
  prometheusMetrics(register);
  for (const { name, kind, help } of Object.values(metricFamilies)) {
    assertEquals(await register.getSingleMetricAsString(name), `# HELP ${name} ${help}\n# TYPE ${name} ${kind}`);
  }
});

Deno.test({
  name: "prometheus: the default register is prom-client's own",
  ignore: "Bun" in globalThis, // on Bun, this repository's package has its own copy of prom-client
  fn: () => assertStrictEquals(prometheusMetrics(), prometheusMetrics(register)),
});

Deno.test("prometheus: a second provider for a register adds to the same series; a provider for another register doesn't", async () => {
  const registers = [new Registry(), new Registry()];
  for (const register of [registers[0]!, registers[0]!, registers[1]!]) {
    prometheusMetrics(register).adds("images").inc();
  }
  assertEquals(await Promise.all(registers.map((register) => scrape(register, "workqueue_adds"))), [
    [`workqueue_adds_total{name="images"} 2`],
    [`workqueue_adds_total{name="images"} 1`],
  ]);
});

Deno.test({
  name: "prometheus: a second copy of the package finds the metrics of the first",
  ignore: "Bun" in globalThis, // Bun loads a module only once
  fn: async () => {
    const url = new URL("../../packages/prometheus/prometheus_metrics.ts", import.meta.url);
    const copy = await import(`${url}?copy`) as typeof import("@workqueue/prometheus");
    assertFalse(Object.is(copy.prometheusMetrics, prometheusMetrics));
    const register = new Registry();
    for (const create of [prometheusMetrics, copy.prometheusMetrics]) create(register).adds("images").inc();
    assertEquals(await scrape(register), [`workqueue_adds_total{name="images"} 2`]);
  },
});

Deno.test("prometheus: a register that was cleared gets metrics again", async () => {
  const register = new Registry();
  prometheusMetrics(register).adds("images").inc();
  register.clear();
  prometheusMetrics(register).adds("images").inc();
  assertEquals(await scrape(register), [`workqueue_adds_total{name="images"} 1`]);
});

Deno.test("prometheus: queues have separate series, and queues with the same name share theirs", async () => {
  const register = new Registry();
  const metrics = prometheusMetrics(register);
  for (const name of ["a", "a", "b"]) createWorkQueue<string>({ name, metrics }).add("item");
  assertEquals(await scrape(register, "workqueue_depth{"), [
    `workqueue_depth{name="a"} 2`,
    `workqueue_depth{name="b"} 1`,
  ]);
});

Deno.test("prometheus: a gauge without a known value is left out until the value is known", async () => {
  const register = new Registry();
  const metrics = prometheusMetrics(register);
  for (const method of ["delayed", "oldestReady", "depth"] as const) {
    const { name } = metricFamilies[method];
    const gauge = metrics[method]("q") as SettableGauge; // queues on Redis call `set` on their depth gauge
    for (const value of [3, NaN, 4, NaN, 0]) {
      gauge.set(value);
      assertEquals(await scrape(register, `${name}{`), Number.isNaN(value) ? [] : [`${name}{name="q"} ${value}`]);
    }
  }
});

Deno.test("prometheus: a removed queue keeps its last values for five minutes, or for `keepFor`", async () => {
  for (const [options, ms] of [[{}, 300_000], [{ keepFor: "30s" }, 30_000]] as [PrometheusOptions, number][]) {
    using time = new FakeTime();
    const register = new Registry();
    const metrics = prometheusMetrics(register, options);
    for (const queue of ["images", "others"]) {
      metrics.depth(queue);
      use(metrics, queue);
    }
    const before = await scrape(register);
    metrics.gone("images");
    time.tick(ms - 1);
    assertEquals(await scrape(register), before);
    time.tick(1);
    const after = await scrape(register);
    assertEquals(after, before.filter((line) => !line.includes("images")));
    assertEquals(after.length, before.length / 2);
  }
});

Deno.test("prometheus: with keepFor 0, a removed queue disappears at the next scrape, and a new one starts at zero", async () => {
  const register = new Registry();
  const metrics = prometheusMetrics(register, { keepFor: 0 });
  metrics.depth("q").inc();
  metrics.gone("q");
  assertEquals(await scrape(register), []);
  metrics.depth("q").inc();
  assertEquals(await scrape(register), [`workqueue_depth{name="q"} 1`]);
});

Deno.test("prometheus: the series of a removed queue continue if there is another queue with its name when they would be removed", async () => {
  using time = new FakeTime();
  const register = new Registry();
  const metrics = prometheusMetrics(register);
  const adds = () => scrape(register, "workqueue_adds");
  const create = () => {
    metrics.depth("q");
    metrics.adds("q").inc();
  };
  create();
  metrics.gone("q");
  time.tick(240_000);
  create(); // a new queue with the same name
  time.tick(600_000);
  assertEquals(await adds(), [`workqueue_adds_total{name="q"} 2`]);
  metrics.gone("q");
  metrics.active("q"); // a pool starts
  time.tick(600_000);
  assertEquals(await adds(), [`workqueue_adds_total{name="q"} 2`]);
  metrics.gone("q");
  time.tick(300_000);
  assertEquals(await adds(), []);
});

Deno.test("prometheus: a queue that is shut down is removed when its last item is done, however its pool ends", async () => {
  using time = new FakeTime();
  const register = new Registry();
  const metrics = prometheusMetrics(register, { keepFor: "1m" });
  const queue = createRateLimitingQueue<string>(createDefaultItemLimiter(), { name: "q", metrics });
  runWorkers(queue, () => new Promise<void>((resolve) => setTimeout(resolve, 600_000)), { concurrency: 2 });
  queue.add("long");
  await time.tickAsync(0);
  queue.shutDown();
  await time.tickAsync(599_000);
  assert((await scrape(register)).includes(`workqueue_active{name="q"} 1`));
  await time.tickAsync(60_000);
  assert((await scrape(register)).includes(`workqueue_active{name="q"} 0`)); // values are kept for one more minute
  await time.tickAsync(60_000);
  assertEquals(await scrape(register), []);
});

Deno.test("prometheus: a third-party metric with one of the names causes an error, and nothing is registered", async () => {
  for (const Made of [Gauge, Counter]) {
    const register = new Registry();
    new Made({ name: "workqueue_retries_total", help: "Mine.", labelNames: ["name"], registers: [register] });
    assertThrows(
      () => prometheusMetrics(register),
      Error,
      "Cannot create Prometheus metrics: 'register' has another metric \"workqueue_retries_total\" already: " +
        "remove it, or give a register of its own",
    );
    assertEquals((await register.getMetricsAsJSON()).map(({ name }) => name), ["workqueue_retries_total"]);
  }
});

Deno.test("prometheus: a missing register and values that are not options are refused", () => {
  const make = (...args: unknown[]) => () => prometheusMetrics(...args as [Registry]);
  for (const none of [null, {}, "http://localhost", [], () => {}]) {
    assertThrows(
      make(none),
      TypeError,
      "Cannot create Prometheus metrics: 'register' must be a register of prom-client",
    );
  }
  const register = new Registry();
  assertThrows(
    make(register, { keepfor: 1 }),
    TypeError,
    'Cannot create Prometheus metrics: "keepfor" is not an option here; did you mean "keepFor"?',
  );
  for (const keepFor of ["5 minutes", true, {}]) {
    assertThrows(make(register, { keepFor }), TypeError, "'keepFor' must be");
  }
  for (const keepFor of [NaN, Infinity]) assertThrows(make(register, { keepFor }), RangeError, "'keepFor' must be");
  for (const keepFor of [-1, "-1s"]) {
    assertThrows(make(register, { keepFor }), RangeError, "'keepFor' must be a non-negative duration, got -1");
  }
  assertEquals(register.getMetricsAsArray(), []);
});

Deno.test("prometheus: in the OpenMetrics format, counters have the names that the format requires", async () => {
  const register = new Registry<OpenMetricsContentType>();
  register.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  use(prometheusMetrics(register), "q");
  const text = await register.metrics();
  assertStringIncludes(text, `# TYPE workqueue_adds counter\nworkqueue_adds_total{name="q"} 3\n`);
  assertStringIncludes(text, `\nworkqueue_queue_duration_seconds_count{name="q"} 8\n`);
  assertEquals(await register.metrics(), text);
  prometheusMetrics(register).adds("q").inc();
  assertStringIncludes(await register.metrics(), `workqueue_adds_total{name="q"} 4\n`);
});

Deno.test("prometheus: every method of a register works with these metrics too", async () => {
  const register = new Registry();
  use(prometheusMetrics(register), "q");
  const adds = await register.getSingleMetric("workqueue_adds_total")!.get();
  assertEquals(adds.values, [{ value: 3, labels: { name: "q" } }]);
  register.setDefaultLabels({ app: "shop" });
  assertEquals(await scrape(register, "workqueue_adds"), [`workqueue_adds_total{name="q",app="shop"} 3`]);
  assertEquals(await scrape(Registry.merge([register]), "workqueue_adds"), [`workqueue_adds_total{name="q"} 3`]);
  register.resetMetrics();
  const counts = (await scrape(register)).filter((line) => line.includes("_total{"));
  assertEquals(counts.map((line) => line.split(" ")[1]), ["0", "0", "0", "0", "0"]);
  register.removeSingleMetric("workqueue_adds_total");
  assertEquals(await scrape(register, "workqueue_adds"), []);
});

Deno.test("prometheus: across the workers of a cluster, gauges of the longest or oldest item take the maximum", async () => {
  const workers = [1, 2].map(() => new Registry());
  for (const register of workers) use(prometheusMetrics(register), "q");
  const all = await Promise.all(workers.map((register) => register.getMetricsAsJSON()));
  const lines = await scrape(AggregatorRegistry.aggregate(all) as unknown as Registry);
  for (
    const line of [
      `workqueue_adds_total{name="q"} 6`,
      `workqueue_delayed{name="q"} 9640`,
      `workqueue_blocked{name="q"} 24`,
      `workqueue_longest_running_processor_seconds{name="q"} 2.5`,
      `workqueue_oldest_ready_seconds{name="q"} 3.25`,
      `workqueue_queue_duration_seconds_count{name="q"} 16`,
      `workqueue_queue_duration_seconds_bucket{le="1e-8",name="q"} 4`,
    ]
  ) assert(lines.includes(line), `${line} is not among\n${lines.join("\n")}`);
});
