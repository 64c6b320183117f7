import { assert, assertEquals, assertFalse, assertMatch, assertThrows } from "@std/assert";
import {
  adaptMetrics,
  type Counter,
  createDelayingQueue,
  createExponentialLimiter,
  createRateLimitingQueue,
  createWorkQueue,
  type Gauge,
  type Histogram,
  InMemoryMetrics,
  type MetricsProvider,
  type RateLimitingQueueOptions,
  type SettableGauge,
} from "@workqueue/core";
import { metricFamilies } from "@workqueue/core/metrics";
import { FakeTime } from "@std/testing/time";
import { HandClock } from "../helpers.ts";
import { Lifo, take, takeAll } from "../queue_helpers.ts";

const NAMES = [
  "workqueue_depth",
  "workqueue_adds_total",
  "workqueue_queue_duration_seconds",
  "workqueue_work_duration_seconds",
  "workqueue_unfinished_work_seconds",
  "workqueue_longest_running_processor_seconds",
  "workqueue_retries_total",
] as const;

/** Metrics provider that records every measurement with its time. */
class Recorder implements MetricsProvider {
  readonly made: string[] = [];
  readonly measured: [time: number, metric: string, value: number][] = [];

  constructor(readonly now: () => number) {
    adaptMetrics(this);
  }

  #make(metric: string, queue: string): Gauge & Counter & Histogram & SettableGauge {
    this.made.push(`${metric} of ${queue}`);
    const measure = (value: number) => void this.measured.push([this.now(), metric, value]);
    return { inc: () => measure(1), dec: () => measure(-1), observe: measure, set: measure };
  }

  depth = (queue: string) => this.#make("depth", queue);
  adds = (queue: string) => this.#make("adds", queue);
  queueLatency = (queue: string) => this.#make("queueLatency", queue);
  workDuration = (queue: string) => this.#make("workDuration", queue);
  unfinishedWork = (queue: string) => this.#make("unfinishedWork", queue);
  longestRunningProcessor = (queue: string) => this.#make("longestRunningProcessor", queue);
  retries = (queue: string) => this.#make("retries", queue);

  /** Removes and returns the recorded measurements of one metric. */
  taken(metric: string): [time: number, value: number][] {
    const found = this.measured.filter(([, name]) => name === metric);
    this.measured.splice(0, Infinity, ...this.measured.filter(([, name]) => name !== metric));
    return found.map(([time, , value]) => [time, value]);
  }
}

/** Creates a measured queue under fake time. */
function createMeasured(options: RateLimitingQueueOptions<string> = {}) {
  const time = new FakeTime();
  const start = time.now;
  const metrics = new InMemoryMetrics();
  const recorder = new Recorder(() => time.now - start);
  const limiter = createExponentialLimiter<string>({ baseDelay: 100, maxDelay: 1000 });
  return {
    time,
    metrics,
    queue: createRateLimitingQueue<string>(limiter, { name: "q", metrics, ...options }),
    recorder,
    recorded: () => createRateLimitingQueue<string>(limiter, { name: "q", metrics: recorder, ...options }),
    value: (metric: (typeof NAMES)[number]) => metrics.value(metric, "q"),
    count: (metric: (typeof NAMES)[number]) => metrics.count(metric, "q"),
    [Symbol.dispose]: () => time.restore(),
  };
}

Deno.test("the seven metrics of an item that is added, handed out, added again meanwhile, done, and handed out again", () => {
  using measured = createMeasured();
  const { time, queue, value, count } = measured;
  queue.add("foo");
  assertEquals([value("workqueue_adds_total"), value("workqueue_depth")], [1, 1]);
  time.tick(125);

  const first = take(queue);
  assertEquals([value("workqueue_queue_duration_seconds"), count("workqueue_queue_duration_seconds")], [0.125, 1]);
  assertEquals(value("workqueue_depth"), 0);

  // However often "foo" is added while it is processing, these adds count as one.
  for (let i = 0; i < 5; i++) queue.add("foo");
  assertEquals([value("workqueue_adds_total"), value("workqueue_depth")], [2, 1]);
  time.tick(250);

  first[Symbol.dispose]();
  assertEquals([value("workqueue_work_duration_seconds"), count("workqueue_work_duration_seconds")], [0.25, 1]);
  assertEquals([value("workqueue_adds_total"), value("workqueue_depth")], [2, 1]);

  // The latency of the second lease is measured from the call to `add`, not from the end of the first lease.
  const second = take(queue);
  assertEquals([value("workqueue_queue_duration_seconds"), count("workqueue_queue_duration_seconds")], [0.375, 2]);
  assertEquals(value("workqueue_depth"), 0);
  time.tick(125); // 500 ms since the queue was created

  assertEquals(value("workqueue_unfinished_work_seconds"), 0.125);
  assertEquals(value("workqueue_longest_running_processor_seconds"), 0.125);
  second[Symbol.dispose]();
  assertEquals([value("workqueue_work_duration_seconds"), count("workqueue_work_duration_seconds")], [0.375, 2]);
  assertEquals([value("workqueue_depth"), value("workqueue_retries_total")], [0, 0]);
  queue.shutDown();
});

Deno.test("with a discipline, latency counts from the add of the chosen item", () => {
  using measured = createMeasured({ discipline: new Lifo<string>() });
  const { time, queue, value, count } = measured;
  for (const item of ["a", "b"]) {
    queue.add(item);
    time.tick(1000);
  }
  const newest = take(queue);
  assertEquals([newest.item, value("workqueue_queue_duration_seconds")], ["b", 1]);
  queue.add("b");
  time.tick(1000);
  newest[Symbol.dispose]();
  assertEquals(take(queue).item, "b");
  assertEquals(value("workqueue_queue_duration_seconds"), 1 + 1);
  assertEquals(take(queue).item, "a");
  assertEquals([value("workqueue_queue_duration_seconds"), count("workqueue_queue_duration_seconds")], [2 + 3, 3]);
  queue.shutDown();
});

Deno.test("an add of an item that is ready is folded, and its latency counts from the first add", () => {
  using measured = createMeasured();
  const { time, queue, value } = measured;
  queue.add("a");
  time.tick(1000);
  queue.add("a");
  queue.add("b");
  time.tick(1000);
  assertEquals([value("workqueue_adds_total"), value("workqueue_depth")], [2, 2]);
  take(queue);
  assertEquals(value("workqueue_queue_duration_seconds"), 2);
  take(queue);
  assertEquals(value("workqueue_queue_duration_seconds"), 3);
  queue.shutDown();
});

Deno.test("retries counts items added after a delay or through the limiter, whatever the delay", () => {
  using measured = createMeasured();
  const { time, queue, value } = measured;
  queue.add("a");
  assertEquals(value("workqueue_retries_total"), 0);
  queue.addAfter("b", 1000);
  queue.addAfter("b", 500); // the item is added only once, but both calls count as retries
  queue.addAfter("c", 0);
  queue.addRateLimited("d");
  assertEquals(value("workqueue_retries_total"), 4);
  // A delayed item is not in the queue yet.
  assertEquals([value("workqueue_adds_total"), value("workqueue_depth")], [2, 2]);
  time.tick(1000);
  assertEquals([value("workqueue_adds_total"), value("workqueue_depth")], [4, 4]);
  assertEquals(value("workqueue_retries_total"), 4);
  queue.shutDown();
  queue.addAfter("e", 100);
  queue.addRateLimited("f");
  queue.add("g");
  assertEquals([value("workqueue_retries_total"), value("workqueue_adds_total")], [4, 4]);
});

Deno.test("latency counts from the end of an item's delay", () => {
  using measured = createMeasured();
  const { time, queue, value } = measured;
  queue.addAfter("a", 3000);
  time.tick(3000);
  time.tick(400);
  take(queue);
  assertEquals(value("workqueue_queue_duration_seconds"), 0.4);
  queue.shutDown();
});

Deno.test("an item that a get is waiting for has no latency", async () => {
  using measured = createMeasured();
  const { queue, value, count } = measured;
  const waiting = queue.get();
  queue.add("a");
  await waiting;
  assertEquals([value("workqueue_queue_duration_seconds"), count("workqueue_queue_duration_seconds")], [0, 1]);
  assertEquals([value("workqueue_adds_total"), value("workqueue_depth")], [1, 0]);
  queue.shutDown();
});

Deno.test("done of an item that is not processing is not measured", () => {
  using measured = createMeasured();
  const { queue, count } = measured;
  queue.done("a");
  queue.add("a");
  queue.done("a");
  assertEquals(count("workqueue_work_duration_seconds"), 0);
  const lease = take(queue);
  lease[Symbol.dispose]();
  lease[Symbol.dispose]();
  queue.done("a");
  assertEquals(count("workqueue_work_duration_seconds"), 1);
  queue.shutDown();
});

Deno.test("work in progress is set every 500 ms, counted from the creation of the queue, while there is any", () => {
  using measured = createMeasured();
  const { time, recorder } = measured;
  const queue = measured.recorded();
  queue.add("a");
  queue.add("b");
  time.tick(700);
  assertEquals(recorder.taken("unfinishedWork"), []); // no item is processing

  const a = take(queue);
  time.tick(100);
  const b = take(queue);
  time.tick(199);
  assertEquals(recorder.taken("unfinishedWork"), []);
  time.tick(1);
  assertEquals(recorder.taken("unfinishedWork"), [[1000, 0.5]]); // "a" has been processing for 300 ms, "b" for 200 ms
  assertEquals(recorder.taken("longestRunningProcessor"), [[1000, 0.3]]);
  time.tick(500);
  assertEquals(recorder.taken("unfinishedWork"), [[1500, 1.5]]);
  assertEquals(recorder.taken("longestRunningProcessor"), [[1500, 0.8]]);

  a[Symbol.dispose]();
  time.tick(500);
  assertEquals(recorder.taken("unfinishedWork"), [[2000, 1.2]]);
  assertEquals(recorder.taken("longestRunningProcessor"), [[2000, 1.2]]);

  b[Symbol.dispose]();
  time.tick(500);
  assertEquals(recorder.taken("unfinishedWork"), [[2500, 0]]);
  assertEquals(recorder.taken("longestRunningProcessor"), [[2500, 0]]);
  time.tick(10_000);
  assertEquals(recorder.taken("unfinishedWork"), []);
  assertFalse(time.next(), "no timer is left");

  queue.add("c"); // the timer starts again
  const c = take(queue);
  time.tick(500);
  assertEquals(recorder.taken("unfinishedWork"), [[13_000, 0.5]]);
  c[Symbol.dispose]();
  queue.shutDown();
});

Deno.test("the longest running processor is the handler that has run for longest, in whatever order handlers start", () => {
  using measured = createMeasured();
  const { time, queue, value } = measured;
  for (const item of ["a", "b", "c"]) queue.add(item);
  const a = take(queue);
  time.tick(100);
  take(queue);
  time.tick(100);
  take(queue);
  a[Symbol.dispose]();
  queue.add("a");
  take(queue); // at 200
  time.tick(300);
  assertEquals(value("workqueue_longest_running_processor_seconds"), 0.4);
  assertEquals(Math.round(value("workqueue_unfinished_work_seconds")! * 1000), 1000);
  queue.shutDown();
});

Deno.test("work that begins and ends between two measurements leaves zeros", () => {
  using measured = createMeasured();
  const { time, recorder } = measured;
  const queue = measured.recorded();
  queue.add("a");
  take(queue)[Symbol.dispose]();
  time.tick(499);
  assertEquals(recorder.taken("unfinishedWork"), []);
  time.tick(1);
  assertEquals(recorder.taken("unfinishedWork"), [[500, 0]]);
  assertEquals(recorder.taken("longestRunningProcessor"), [[500, 0]]);
});

Deno.test("the times of the measurements are whole milliseconds even if the clock has fractions", async () => {
  const clock = new HandClock(0.25);
  const metrics = new InMemoryMetrics();
  const queue = createWorkQueue<string>({ name: "q", metrics, clock });
  clock.time = 100.5;
  queue.add("a");
  take(queue);
  assertEquals(clock.delays, [400]); // 399.75 rounded up, because the timer must not fire before the measurement is due
  await clock.advance(400);
  assertEquals(metrics.value("workqueue_unfinished_work_seconds", "q"), 0.4);
  queue.shutDown();
});

Deno.test("after shutdown, work in progress is no longer set, and no timer is left", () => {
  for (const end of ["shutDown", "shutDownWithDrain"] as const) {
    using measured = createMeasured();
    const { time, recorder } = measured;
    const queue = measured.recorded();
    for (const item of ["a", "b"]) queue.add(item);
    queue.addAfter("c", 5000);
    const a = take(queue);
    time.tick(500);
    assertEquals(recorder.taken("unfinishedWork"), [[500, 0.5]]);
    assertEquals(recorder.taken("longestRunningProcessor"), [[500, 0.5]]);
    queue[end]();
    assertFalse(time.next(), "no timer is left");

    const b = take(queue); // ready items are still handed out and measured
    assertFalse(time.next(), "nor is one set");
    time.tick(1000);
    a[Symbol.dispose]();
    b[Symbol.dispose]();
    assertEquals(recorder.taken("unfinishedWork"), []);
    assertEquals(recorder.taken("longestRunningProcessor"), []);
    assertEquals(recorder.taken("queueLatency").map(([, seconds]) => seconds), [0, 0.5]);
    assertEquals(recorder.taken("workDuration"), [[1500, 1.5], [1500, 1]]);
  }
});

Deno.test("after shutdown, no timer is set for the first item that is handed out", () => {
  using measured = createMeasured();
  measured.queue.add("a");
  measured.queue.shutDown();
  take(measured.queue);
  assertFalse(measured.time.next());
});

Deno.test("a queue without a name is not measured, in any layer", () => {
  using time = new FakeTime();
  const recorder = new Recorder(() => time.now);
  const limiter = createExponentialLimiter<string>({ baseDelay: 1, maxDelay: 10 });
  for (const name of [undefined, ""]) {
    const options = { metrics: recorder, ...(name === undefined ? {} : { name }) };
    const queue = createRateLimitingQueue<string>(limiter, options);
    queue.addRateLimited("a");
    time.tick(10);
    take(queue);
    time.tick(1000);
    queue.shutDown();
    createDelayingQueue(options).shutDown();
    createWorkQueue(options).shutDown();
  }
  assertEquals([recorder.made, recorder.measured], [[], []]);
});

Deno.test("each metric is created once for a queue, with its name", () => {
  const recorder = new Recorder(() => 0);
  createRateLimitingQueue(createExponentialLimiter({ baseDelay: 1, maxDelay: 10 }), { name: "q", metrics: recorder });
  const metrics = [
    "depth",
    "adds",
    "queueLatency",
    "workDuration",
    "unfinishedWork",
    "longestRunningProcessor",
    "retries",
  ];
  assertEquals(recorder.made.toSorted(), metrics.map((metric) => `${metric} of q`).toSorted());
});

Deno.test("InMemoryMetrics: every metric has its name in Kubernetes", () => {
  const metrics = new InMemoryMetrics();
  metrics.depth("q").inc();
  metrics.depth("q").inc();
  metrics.depth("q").dec();
  for (let i = 0; i < 3; i++) metrics.adds("q").inc();
  for (const seconds of [0.5, 1.5]) metrics.queueLatency("q").observe(seconds);
  for (const seconds of [1, 2, 4]) metrics.workDuration("q").observe(seconds);
  metrics.unfinishedWork("q").set(9);
  metrics.unfinishedWork("q").set(5);
  metrics.longestRunningProcessor("q").set(6);
  metrics.retries("q").inc();
  assertEquals(NAMES.map((name) => metrics.value(name, "q")), [1, 3, 2, 7, 5, 6, 1]);
  assertEquals(metrics.count("workqueue_queue_duration_seconds", "q"), 2);
  assertEquals(metrics.count("workqueue_work_duration_seconds", "q"), 3);
});

Deno.test("InMemoryMetrics: a metric without a measurement has no value", () => {
  const metrics = new InMemoryMetrics();
  metrics.depth("q");
  assertEquals([metrics.value("workqueue_depth", "q"), metrics.count("workqueue_depth", "q")], [0, 0]);
  for (
    const [metric, queue] of [["workqueue_depth", "other"], ["workqueue_adds_total", "q"], ["depth", "q"], [
      "toString",
      "q",
    ]]
  ) {
    assertEquals(metrics.value(metric!, queue!), undefined);
    assertEquals(metrics.count(metric!, queue!), undefined);
  }
  assertEquals(new InMemoryMetrics().toPrometheus(), "");
});

Deno.test("InMemoryMetrics: two queues with one name add up, and queues with different names are separate", () => {
  const metrics = new InMemoryMetrics();
  for (const name of ["a", "a", "b"]) {
    using queue = createWorkQueue<string>({ name, metrics }); // disposed, or its timer would leak into other tests
    queue.add("item");
  }
  assertEquals(metrics.value("workqueue_depth", "a"), 2);
  assertEquals(metrics.value("workqueue_depth", "b"), 1);
});

Deno.test("InMemoryMetrics: counters and gauges are printed in the Prometheus format, each family once", () => {
  const metrics = new InMemoryMetrics();
  metrics.adds("b").inc();
  metrics.unfinishedWork("a").set(1.5);
  metrics.adds("a").inc();
  metrics.adds("a").inc();
  const lines = metrics.toPrometheus().split("\n");
  assertEquals(lines, [
    "# HELP workqueue_adds_total Adds that were not folded into an earlier add.",
    "# TYPE workqueue_adds_total counter",
    `workqueue_adds_total{name="b"} 1`,
    `workqueue_adds_total{name="a"} 2`,
    "# HELP workqueue_unfinished_work_seconds Seconds that all processing items have been processing, in total.",
    "# TYPE workqueue_unfinished_work_seconds gauge",
    `workqueue_unfinished_work_seconds{name="a"} 1.5`,
    "", // the last line ends with a line feed too
  ]);
});

Deno.test("InMemoryMetrics: every family has a help text and a type", () => {
  const metrics = new InMemoryMetrics();
  createRateLimitingQueue(createExponentialLimiter({ baseDelay: 1, maxDelay: 10 }), { name: "q", metrics });
  const types: Record<string, string> = {};
  for (const line of metrics.toPrometheus().split("\n")) {
    const type = line.match(/^# TYPE (\S+) (\S+)$/);
    if (type !== null) types[type[1]!] = type[2]!;
  }
  const kinds = ["gauge", "counter", "histogram", "histogram", "gauge", "gauge", "counter"];
  assertEquals(types, {
    ...Object.fromEntries(NAMES.map((name, i) => [name, kinds[i]!])),
    workqueue_delayed: "gauge",
    workqueue_blocked: "gauge",
    workqueue_oldest_ready_seconds: "gauge",
  });
  for (const name of Object.keys(types)) {
    const help = metrics.toPrometheus().split("\n").filter((line) => line.startsWith(`# HELP ${name} `));
    assertEquals(help.length, 1);
    assertMatch(help[0]!, /^# HELP \w+ [A-Z].{20,}\.$/);
  }
});

Deno.test("metrics: every family has a description in one sentence", () => {
  for (const { name, help } of Object.values(metricFamilies)) assertMatch(help, /^[A-Z].{10,}\.$/, name);
});

Deno.test("InMemoryMetrics: the buckets of a histogram are cumulative, up to +Inf", () => {
  const metrics = new InMemoryMetrics();
  const histogram = metrics.workDuration("q");
  // The values cover four cases: on a bound, just above a bound, below the first bound and above the last bound.
  for (const seconds of [0, 1e-8, 0.001, 0.0010001, 0.5, 1000, 1000.5, 5000]) histogram.observe(seconds);
  const lines = metrics.toPrometheus().trimEnd().split("\n").slice(2);
  const values = lines.map((line) => line.split(" ")[1]);
  const name = (le: number | string) => `workqueue_work_duration_seconds_bucket{name="q",le="${le}"}`;
  assertEquals(lines.slice(0, 13).map((line) => line.split(" ")[0]), [
    ...["1e-08", "1e-07", "1e-06", "1e-05", "0.0001", "0.001", "0.01", "0.1", "1", "10", "100", "1000"].map(name),
    name("+Inf"),
  ]);
  assertEquals(values.slice(0, 13), ["2", "2", "2", "2", "2", "3", "4", "4", "5", "5", "5", "6", "8"]);
  assertEquals(lines.slice(13), [
    `workqueue_work_duration_seconds_sum{name="q"} 7001.00200011`,
    `workqueue_work_duration_seconds_count{name="q"} 8`,
  ]);
});

Deno.test("InMemoryMetrics: each bucket of a histogram counts values between its bound and the previous one", () => {
  for (let i = 0; i < 12; i++) {
    const metrics = new InMemoryMetrics();
    metrics.queueLatency("q").observe(0.9 * 10 ** (i - 8));
    const counts = [...metrics.toPrometheus().matchAll(/le="[^"]*"} (\d)/g)].map(([, count]) => Number(count));
    assertEquals(counts, Array.from({ length: 13 }, (_, bucket) => bucket < i ? 0 : 1));
  }
});

Deno.test("InMemoryMetrics: the name of a queue is escaped as a label", () => {
  const metrics = new InMemoryMetrics();
  metrics.depth('a"b\\c\nd\\n"').inc();
  metrics.queueLatency('"').observe(1);
  const text = metrics.toPrometheus();
  assert(text.includes(`\nworkqueue_depth{name="a\\"b\\\\c\\nd\\\\n\\""} 1\n`), text);
  assert(text.includes(`\nworkqueue_queue_duration_seconds_bucket{name="\\"",le="1"} 1\n`), text);
  assert(text.includes(`\nworkqueue_queue_duration_seconds_sum{name="\\""} 1\n`), text);
});

Deno.test("depth by priority: an item counts under its named level, or its number, from its add until it is taken", () => {
  const metrics = new InMemoryMetrics();
  const queue = createWorkQueue<string>({ name: "q", metrics, priorityLevels: { urgent: 100, usual: 0 } });
  const depths = () => ["urgent", "usual"].map((level) => metrics.value("workqueue_depth_by_priority", "q", level));
  queue.add("a");
  queue.add("b", { priority: 100 });
  queue.add("c", { priority: 7 }); // a priority without a name
  assertEquals([depths(), metrics.value("workqueue_depth", "q")], [[1, 1], 3]);
  queue.add("a", { priority: 100 }); // the priority is raised, and the item is counted once
  assertEquals(depths(), [1, 1]);

  const lease = take(queue);
  assertEquals([lease.item, depths()], ["a", [1, 0]]);
  queue.add("a", { priority: 100 });
  queue.add("a");
  assertEquals(depths(), [2, 0]);
  lease[Symbol.dispose]();
  assertEquals(takeAll(queue), ["b", "c", "a"]);
  assertEquals([depths(), metrics.value("workqueue_depth", "q")], [[0, 0], 0]);
  assert(metrics.toPrometheus().includes(`workqueue_depth_by_priority{name="q",priority="urgent"} 0`));
});

Deno.test("metrics in memory: an unknown value is left out of the text", () => {
  const metrics = new InMemoryMetrics();
  const [depth, other] = [metrics.delayed("q"), metrics.delayed("other")];
  depth.set(1);
  other.set(2);
  depth.set(NaN);
  const lines = () => metrics.toPrometheus().split("\n").filter((line) => line.startsWith("workqueue_delayed"));
  assertEquals(lines(), [`workqueue_delayed{name="other"} 2`]);
  depth.set(0);
  assertEquals(lines(), [`workqueue_delayed{name="q"} 0`, `workqueue_delayed{name="other"} 2`]);
});

Deno.test("depth by priority: a provider may omit it, and levels must be distinct numbers", () => {
  class Plain extends InMemoryMetrics {
    override priorityDepth = undefined as never;
  }
  const queue = createWorkQueue<string>({ name: "q", metrics: new Plain(), priorityLevels: { usual: 0 } });
  queue.add("a");
  assertEquals(takeAll(queue), ["a"]);

  for (const priorityLevels of [{ a: 1, b: 1 }, { a: NaN }, { a: "1" }, [1], new Map([["a", 1]]), null]) {
    assertThrows(
      () => createWorkQueue({ priorityLevels: priorityLevels as never }),
      TypeError,
      "Cannot create work queue: 'priorityLevels' must be an object of distinct numbers",
    );
  }
});
