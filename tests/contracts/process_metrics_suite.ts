/**
 * Contract suite of metrics that cover only one process's work on a queue, run on every engine that processes share.
 * The sum across all processes describes the whole queue.
 */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { InMemoryMetrics, loadConfig, runWorkers, TerminalError } from "@workqueue/core";
import { metricFamilies } from "@workqueue/core/metrics";
import { Console } from "../helpers.ts";
import { uniqueName } from "../redis/unique_name.ts";
import type { RemoteTest } from "./remote_place.ts";

const QUICK = { type: "exponential", baseDelay: 1, maxDelay: 1 } as const;

/** Returns the names and values of all counters and gauges that a queue has created. */
function valuesOf(metrics: InMemoryMetrics, name: string): Record<string, number | undefined> {
  const all = Object.values(metricFamilies).filter(({ kind }) => kind !== "histogram");
  const found = all.map((family) => [family.name.replace("workqueue_", ""), metrics.value(family.name, name)] as const);
  return Object.fromEntries(found.filter(([, value]) => value !== undefined));
}

/** Registers the tests of an engine. */
export function processMetricsSuite(test: RemoteTest): void {
  test("process metrics: each process counts its own work, and nothing of the whole queue", async (place) => {
    const name = uniqueName("metrics");
    const [ours, theirs] = [new InMemoryMetrics(), new InMemoryMetrics()];
    await using queue = place.open({ name, limiter: QUICK, metrics: ours });
    await using other = place.open({ name, limiter: QUICK, metrics: theirs });
    await queue.add("a");
    await queue.addAfter("b", 1);
    await queue.addRateLimited("c");
    await other.addRateLimited("d");
    const work = async () => {
      const lease = await other.get();
      assert(!lease.shutdown);
      return lease;
    };
    await (await work()).finish({ requeue: true });
    await (await work()).finish({ requeueAfter: "1h" });
    await (await work()).finish({ giveUp: "bad" });
    await (await work())[Symbol.asyncDispose]();
    const OF_WORK = { unfinished_work_seconds: 0, longest_running_processor_seconds: 0 };
    assertEquals(valuesOf(ours, name), { ...OF_WORK, retries_total: 2 });
    assertEquals(valuesOf(theirs, name), { ...OF_WORK, retries_total: 3 });
    for (const metric of ["workqueue_queue_duration_seconds", "workqueue_work_duration_seconds"]) {
      assertEquals([ours.count(metric, name), theirs.count(metric, name)], [0, 4], metric);
      assert(theirs.value(metric, name)! > 0);
    }
  });

  test("process metrics: work in progress is measured until it ends, drains included", async (place) => {
    const name = uniqueName("metrics");
    let onLook = (_seconds: number) => {};
    class Watched extends InMemoryMetrics {
      override longestRunningProcessor(queue: string) {
        const gauge = super.longestRunningProcessor(queue);
        const set = (value: number) => {
          gauge.set(value);
          onLook(value);
        };
        return { set };
      }
    }
    const metrics = new Watched();
    const queue = place.open({ name, metrics });
    await queue.add("a");
    const lease = await queue.get();
    const more = (than: number) => new Promise<number>((resolve) => onLook = (value) => value > than && resolve(value));
    const first = await more(0);
    assertEquals(metrics.value("workqueue_unfinished_work_seconds", name), first);
    queue.shutDown();
    await more(first);
    assert(!lease.shutdown);
    await lease.finish();
    await queue.shutDownWithDrain();
    assertEquals(metrics.value("workqueue_unfinished_work_seconds", name), 0);
    assertEquals(metrics.value("workqueue_longest_running_processor_seconds", name), 0);
  });

  test("process metrics: pools count handlers, failures and given-up items", async (place) => {
    const name = uniqueName("metrics");
    const metrics = new InMemoryMetrics();
    const config = loadConfig({ queues: { [name]: { limiter: QUICK as never, concurrency: 3 } } }, { metrics });
    const queue = place.openFrom(config, name);
    const value = (metric: string) => metrics.value(`workqueue_${metric}`, name);
    const seen: unknown[] = [];
    const pool = runWorkers(queue, (item, { attempt }) => {
      seen.push([item, attempt, value("active"), value("concurrency")]);
      if (item === "bad") throw new TerminalError("bad");
      if (attempt < 3) throw new Error("not yet");
    }, { ...config.workers(name), onError: () => {}, onGiveUp: () => {} });
    await queue.add("bad");
    await queue.whenIdle();
    await queue.add("slow");
    await queue.whenIdle();
    assertEquals(seen, [["bad", 1, 1, 3], ["slow", 1, 1, 3], ["slow", 2, 1, 3], ["slow", 3, 1, 3]]);
    assertEquals([value("failures_total"), value("given_up_total"), value("retries_total")], [3, 1, 2]);
    assertEquals(value("active"), 0);
    await queue.shutDownWithDrain();
    await pool.finished;
    assertEquals(value("concurrency"), 0);
  });

  test("rule 11: process metrics: each metric that throws is reported once, and loses no item", async (place) => {
    using printed = new Console();
    const fail = () => {
      throw new Error("full");
    };
    class Full extends InMemoryMetrics {
      override queueLatency = () => ({ observe: fail });
      override workDuration = () => ({ observe: fail });
      override retries = () => ({ inc: fail });
    }
    const name = uniqueName("metrics");
    await using queue = place.open({ name, metrics: new Full() });
    for (const item of ["a", "b"]) {
      await queue.addAfter(item, 1);
      const lease = await queue.get();
      assert(!lease.shutdown);
      assertEquals(await lease.finish(), true);
    }
    assertEquals(
      printed.lines.sort(),
      ["queueLatency", "retries", "workDuration"].map((metric) =>
        `Cannot measure '${metric}' of queue "${name}": "Error: full"`
      ),
    );
  });

  test("rule 11: process metrics: a gauge that throws doesn't affect the other gauge", async (place) => {
    using _console = new Console();
    let seen = 0;
    class Full extends InMemoryMetrics {
      override unfinishedWork = () => ({
        set() {
          throw new Error("full");
        },
      });
      override longestRunningProcessor = () => ({ set: () => void seen++ });
    }
    const queue = place.open({ name: uniqueName("metrics"), metrics: new Full() });
    await queue.add("a");
    const lease = await queue.get();
    assert(!lease.shutdown);
    await lease.finish();
    await queue.shutDownWithDrain();
    assert(seen > 0);
  });

  test("process metrics: a value that is not a provider is refused", (place) => {
    for (const metrics of [{}, "prometheus", { retries() {} }]) {
      const create = () => place.open({ name: "q", metrics: metrics as never });
      assertThrows(create, TypeError, "'metrics' must be a metrics provider");
    }
    return Promise.resolve();
  });
}
