/** Metrics of pools: running handlers, concurrency, failed attempts and given-up items. */

import { assertEquals, assertThrows } from "@std/assert";
import {
  adaptMetrics,
  createExponentialLimiter,
  createRateLimitingQueue,
  InMemoryMetrics,
  type MetricsProvider,
  type RateLimitingQueue,
  runWorkers,
  runWorkers as runDirectly,
  TerminalError,
  TokenBucket,
} from "@workqueue/core";
import { SOURCE } from "@workqueue/core/hooks";
import { test } from "../workers/engines.ts";
import { Console, HandClock } from "../helpers.ts";
import { flush, sourceOf, take } from "../queue_helpers.ts";

/** Metrics that record every value of `concurrency`. When a queue is gone, they also record the queue's last value. */
class Metrics extends InMemoryMetrics {
  readonly left: string[] = [];
  readonly concurrencies: number[] = [];

  override concurrency(queue: string) {
    const gauge = super.concurrency(queue);
    return {
      set: (value: number) => {
        this.concurrencies.push(value);
        gauge.set(value);
      },
    };
  }

  gone(queue: string): void {
    this.left.push(`${queue} at ${this.value("workqueue_concurrency", queue)}`);
  }
}

class Setup {
  readonly clock = new HandClock();
  readonly metrics = new Metrics();
  readonly queue = this.newQueue();
  readonly ends: (() => void)[] = [];
  readonly errors: string[] = [];

  newQueue(metrics: MetricsProvider = this.metrics): RateLimitingQueue<string> {
    const limiter = createExponentialLimiter({ baseDelay: 10, maxDelay: 10 });
    return createRateLimitingQueue<string>(limiter, { name: "q", metrics, clock: this.clock });
  }

  add(items: string): void {
    for (const item of items) this.queue.add(item);
  }

  /** Handler that runs until `end` is called. */
  readonly hold = () => new Promise<void>((resolve) => this.ends.push(resolve));

  readonly onError = (error: unknown, item: string) => void this.errors.push(`${item}: ${error}`);

  /** Moves the clock after all pending work is done. */
  async advance(ms: number): Promise<void> {
    await flush();
    await this.clock.advance(ms);
    await flush();
  }

  async end(): Promise<void> {
    for (const end of this.ends.splice(0)) end();
    await flush();
  }

  value(metric: string): number | undefined {
    return this.metrics.value(`workqueue_${metric}`, "q");
  }
}

test("active: running handlers, also those that passed their timeout, until they end", async ({ runWorkers }) => {
  const it = new Setup();
  const pool = runWorkers(it.queue, it.hold, { concurrency: 2, timeout: 100, onError() {} });
  it.add("abc");
  assertEquals(it.value("active"), 0);
  await flush();
  assertEquals([it.value("active"), pool.active], [2, 2]);
  await it.advance(100);
  await flush();
  assertEquals([it.value("active"), pool.active], [3, 3]);
  pool.pause();
  await it.end();
  assertEquals([it.value("active"), pool.active], [0, 0]);
  await pool.stop();
});

test("concurrency: the sum over the pools of a queue; it is set, changed, and reduced when a pool ends", async ({ startPool }) => {
  const it = new Setup();
  const first = startPool(it.queue, () => {}, { concurrency: 2 });
  assertEquals(it.value("concurrency"), 2);
  const second = startPool(it.queue, it.hold, { concurrency: 3 });
  assertEquals(it.value("concurrency"), 5);
  first.concurrency = 4;
  assertEquals(it.value("concurrency"), 7);
  second.change({ concurrency: undefined });
  await flush();
  assertEquals(it.value("concurrency"), 5);
  await first.stop();
  assertEquals(it.value("concurrency"), 1);
  first.concurrency = 9;
  await first.stop();
  assertEquals(it.value("concurrency"), 1, "it has ended");
  it.add("a");
  await flush();
  const stopped = second.stop();
  assertEquals(it.value("concurrency"), 1, "a handler still runs");
  await it.end();
  await stopped;
  assertEquals(it.value("concurrency"), 0);
});

test("failures: each failed attempt, once if it times out; given up: each item that was given up", async ({ runWorkers }) => {
  const it = new Setup();
  const pool = runWorkers(it.queue, (item, { attempt }) => {
    if (item === "terminal") throw new TerminalError("no use");
    if (item === "slow") return it.hold();
    if (item === "second" && attempt === 2) return;
    if (item === "again") return { requeue: attempt === 1 };
    throw new Error("no");
  }, { concurrency: 5, timeout: 100, maxRetries: 2, onError: it.onError });
  const counts = () => [it.value("failures_total"), it.value("given_up_total")];
  it.queue.add("again");
  await it.advance(50);
  assertEquals(counts(), [0, 0]);
  it.queue.add("terminal");
  await it.advance(50);
  assertEquals(counts(), [1, 1]);
  it.queue.add("second");
  await it.advance(50);
  assertEquals(counts(), [2, 1]);
  it.queue.add("never");
  await it.advance(50);
  assertEquals(counts(), [5, 2]);
  assertEquals(it.errors.length, 5);
  it.queue.add("slow");
  await it.advance(150);
  assertEquals(counts(), [6, 2]);
  await it.end();
  assertEquals([counts(), it.errors.length], [[6, 2], 6]);
  await pool.stop();
});

test("an interrupted attempt is not a failure; an attempt with an invalid outcome is, for onError and the metric", async ({ runWorkers }) => {
  const it = new Setup();
  const controller = new AbortController();
  const pool = runWorkers(it.queue, async (item, { signal }) => {
    if (item === "wrong") return { requeueAfter: "soon" as never };
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    throw signal.reason;
  }, { concurrency: 2, signal: controller.signal, onError: it.onError });
  it.queue.add("wrong");
  it.queue.add("interrupted");
  await flush();
  assertEquals([it.value("failures_total"), it.errors.length], [1, 1]);
  controller.abort();
  await pool.finished;
  assertEquals([it.value("failures_total"), it.errors.length, it.value("active")], [1, 1, 0]);
});

test("a metric that throws loses no item, and is not a failure for onError", async ({ startPool }) => {
  using printed = new Console();
  for (const metric of ["active", "failures", "givenUp", "concurrency"] as const) {
    const it = new Setup();
    const broken = () => {
      throw new Error("broken");
    };
    const metrics = Object.assign(new Metrics(), { [metric]: () => ({ inc: broken, dec: broken, set: broken }) });
    const queue = it.newQueue(metrics);
    const log: string[] = [];
    const pool = startPool(queue, (item, { attempt }) => {
      log.push(`${item} ${attempt}`);
      if (item === "b") throw new Error("no");
    }, { maxRetries: 1, onError: it.onError, onGiveUp: (_error, item) => log.push(`gave up ${item}`) });
    for (const item of "abc") queue.add(item);
    pool.concurrency = 2;
    pool.change({ concurrency: 1 });
    await it.advance(100);
    await queue.shutDownWithDrain();
    await pool.finished;
    assertEquals(log, ["a 1", "b 1", "c 1", "b 2", "gave up b"]);
    assertEquals(it.errors, ["b: Error: no", "b: Error: no"]);
    assertEquals([queue.length, queue.delayed, queue.processing], [0, 0, 0]);
    const line = `Cannot measure '${metric}' of queue "q": "Error: broken"`;
    assertEquals(printed.lines, [...new Set([...printed.lines, line])], "once for each metric");
  }
  assertEquals(printed.lines.length, 4);
});

Deno.test("a provider that can't create a metric: no pool starts", async () => {
  for (const metric of ["active", "failures", "givenUp", "concurrency"] as const) {
    const it = new Setup();
    const metrics = Object.assign(new InMemoryMetrics(), {
      [metric]() {
        throw new Error(`no ${metric}`);
      },
    });
    const queue = it.newQueue(metrics);
    queue.add("a");
    const throttle = new TokenBucket(0, 1, { clock: it.clock });
    assertThrows(() => runDirectly(queue, () => {}, { throttle }), Error, `no ${metric}`);
    await flush();
    assertEquals([queue.length, throttle.tokens], [1, 1]);
  }
});

Deno.test("a queue is removed once its pools have ended, too: nothing is measured after that", async () => {
  const it = new Setup();
  const pools = [runWorkers(it.queue, it.hold, { concurrency: 2 }), runWorkers(it.queue, () => {})];
  it.add("abc");
  await flush();
  it.queue.shutDown();
  await flush();
  assertEquals(it.metrics.left, [], "a handler runs");
  await it.end();
  await Promise.all(pools.map(({ finished }) => finished));
  assertEquals([it.metrics.left, it.value("active")], [["q at 0"], 0]);
  for (const pool of pools) pool.concurrency = 7;
  await pools[0]!.stop();
  assertEquals(it.metrics.concurrencies, [2, 3, 2, 0]);

  const late = runWorkers(it.queue, () => {}, { concurrency: 5 });
  await late.finished;
  assertEquals([it.metrics.concurrencies.length, it.metrics.left.length], [4, 1], "of a queue that is gone");
});

Deno.test("a pool that starts after the shutdown measures the remaining items until the queue is removed", async () => {
  const it = new Setup();
  it.add("ab");
  it.queue.shutDown();
  const pool = runWorkers(it.queue, () => {}, { concurrency: 3 });
  await pool.finished;
  assertEquals([it.metrics.concurrencies, it.metrics.left], [[3, 0], ["q at 0"]]);
});

Deno.test("a pool that starts after the shutdown measures an item that is added again when it is done", async () => {
  const it = new Setup();
  it.add("a");
  const lease = take(it.queue);
  it.add("a");
  it.queue.shutDown();
  const pool = runWorkers(it.queue, () => {}, { concurrency: 3 });
  await flush();
  assertEquals([it.metrics.concurrencies, it.metrics.left], [[3], []]);
  lease[Symbol.dispose]();
  await pool.finished;
  assertEquals([it.metrics.concurrencies, it.metrics.left], [[3, 0], ["q at 0"]]);
});

Deno.test("a queue is removed when a pool that was paused while the queue ended is stopped", async () => {
  const it = new Setup();
  const pool = runWorkers(it.queue, () => {});
  const other = runWorkers(it.queue, () => {});
  pool.pause();
  it.queue.shutDown();
  await other.stop();
  await other.stop();
  assertEquals(it.metrics.left, []);
  await pool.stop();
  assertEquals(it.metrics.left, ["q at 0"]);
});

test("a pool reports to its queue's provider; without a name, or without the methods, nothing is reported", async ({ runWorkers }) => {
  const clock = new HandClock();
  const limiter = createExponentialLimiter({ baseDelay: 10, maxDelay: 10 });
  const run = async (queue: RateLimitingQueue<string>) => {
    queue.add("a");
    const pool = runWorkers(queue, () => {}, { concurrency: 3, clock });
    await flush();
    return pool;
  };
  const named = new Metrics();
  const pool = await run(createRateLimitingQueue<string>(limiter, { name: "q", metrics: named, clock }));
  assertEquals(named.value("workqueue_concurrency", "q"), 3);
  await pool.stop();

  const nameless = new Metrics();
  await (await run(createRateLimitingQueue<string>(limiter, { metrics: nameless }))).stop();
  assertEquals(nameless.toPrometheus(), "");

  const all = new Metrics();
  const seven = adaptMetrics({
    depth: (queue: string) => all.depth(queue),
    adds: (queue: string) => all.adds(queue),
    queueLatency: (queue: string) => all.queueLatency(queue),
    workDuration: (queue: string) => all.workDuration(queue),
    unfinishedWork: (queue: string) => all.unfinishedWork(queue),
    longestRunningProcessor: (queue: string) => all.longestRunningProcessor(queue),
    retries: (queue: string) => all.retries(queue),
  });
  const queue = createRateLimitingQueue<string>(limiter, { name: "q", metrics: seven, clock });
  const { finished } = await run(queue);
  queue.addAfter("b", 10);
  await queue.shutDownWithDrain();
  await finished;
  assertEquals([...all.toPrometheus().matchAll(/^# TYPE (\S+)/gm)].length, 7);
});

Deno.test("a queue outside this process chooses where its pools report", async () => {
  const it = new Setup();
  const metrics = new Metrics();
  const source = sourceOf(it.newQueue());
  const queue = { [SOURCE]: () => Object.defineProperty(source, "metrics", { value: metrics }) };
  const pool = runDirectly(queue, () => {}, { concurrency: 4 });
  assertEquals([metrics.value("workqueue_concurrency", "q"), it.value("concurrency")], [4, undefined]);
  await pool.stop();
  assertEquals(metrics.value("workqueue_concurrency", "q"), 0);
});
