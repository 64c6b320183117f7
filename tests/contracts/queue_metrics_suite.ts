/** Contract suite of the gauges that describe a whole queue, run on every engine that processes share. */

import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { createWorkQueue, InMemoryMetrics, runWorkers } from "@workqueue/core";
import type { Gauge, MetricsProvider, SettableGauge } from "@workqueue/core/metrics";
import { Console } from "../helpers.ts";
import { uniqueName } from "../redis/unique_name.ts";
import type { RemoteTest } from "./remote_place.ts";

/** Values of the gauges after a measurement. */
type Shown = Record<"depth" | "delayed" | "blocked" | "oldestReady", number>;

/** Provider that records each measurement. A measurement sets the gauge `oldestReady` last. */
export class Watched extends InMemoryMetrics {
  readonly gone: (queue: string) => void = (queue) => void this.calls.push(`gone ${queue}`);
  readonly calls: string[] = [];
  readonly looks: Shown[] = [];
  #onLook: () => void = () => {};

  constructor(readonly queue: string) {
    super();
  }

  override depth(queue: string): Gauge {
    this.calls.push(`depth ${queue}`);
    return super.depth(queue);
  }

  override oldestReady(queue: string): SettableGauge {
    const gauge = super.oldestReady(queue);
    return {
      set: (value) => {
        gauge.set(value);
        this.looks.push(this.shown);
        this.#onLook();
      },
    };
  }

  get shown(): Shown {
    const value = (name: string) => this.value(`workqueue_${name}`, this.queue)!;
    const [depth, delayed, blocked] = [value("depth"), value("delayed"), value("blocked")];
    return { depth, delayed, blocked, oldestReady: value("oldest_ready_seconds") };
  }

  /** Waits until the latest measurement satisfies the condition, and returns that measurement. */
  async until(isRight: (shown: Shown) => boolean): Promise<Shown> {
    while (this.looks.length === 0 || !isRight(this.looks.at(-1)!)) {
      await new Promise<void>((resolve) => this.#onLook = resolve);
    }
    return this.looks.at(-1)!;
  }
}

/** Shortest pause between two measurements. */
export const EVERY = { every: 100 };

/** Reports whether the values of all gauges are unknown. */
export function isUnknown({ depth, delayed, blocked, oldestReady }: Shown): boolean {
  return [depth, delayed, blocked, oldestReady].every(Number.isNaN);
}

/** Registers the tests of an engine. */
export function queueMetricsSuite(test: RemoteTest): void {
  test("queue metrics: ready and delayed items of all processes, and the age of the oldest item", async (place) => {
    const name = uniqueName("metrics");
    await using queue = place.open({ name });
    await using other = place.open({ name });
    await other.addAll(["a", "b"]);
    await other.addAfter("c", "1h");
    const metrics = new Watched(name);
    using _measuring = place.measure(queue, metrics, EVERY);
    const { oldestReady } = await metrics.until(({ depth, delayed }) => depth === 2 && delayed === 1);
    assert(oldestReady > 0 && oldestReady < 60, `${oldestReady} s`);
    await metrics.until((shown) => shown.oldestReady > oldestReady);
    for (let i = 0; i < 2; i++) {
      const lease = await other.get();
      assert(!lease.shutdown);
      await lease.finish();
    }
    await other.cancelDelayed("c");
    await metrics.until((shown) => Object.values(shown).every((value) => value === 0));
    assertStringIncludes(metrics.toPrometheus(), `workqueue_depth{name="${name}"} 0`);
  });

  test("queue metrics: the queue's own provider is used, unless another one is given", async (place) => {
    const name = uniqueName("metrics");
    const metrics = new Watched(name);
    await using queue = place.open({ name, metrics });
    await queue.add("a");
    using _measuring = place.measure(queue);
    await metrics.until(({ depth }) => depth === 1);
    await using unmeasured = place.open({ name });
    assertThrows(
      () => place.measure(unmeasured),
      TypeError,
      `Cannot measure ${place.product} queue: 'metrics' must be a provider of metrics, got undefined`,
    );
  });

  test(
    "queue metrics: they end with the queue object, or before",
    async (place) => {
      const name = uniqueName("metrics");
      const queue = place.open({ name });
      await queue.add("a");
      const metrics = new Watched(name);
      const first = place.measure(queue, metrics, EVERY);
      await metrics.until(({ depth }) => depth === 1);
      first[Symbol.dispose]();
      first[Symbol.dispose]();
      assert(isUnknown(metrics.shown), "after the end there is no number");
      const looks = metrics.looks.length;

      place.measure(queue, metrics, EVERY);
      await metrics.until(({ depth }) => depth === 1);
      const lease = await queue.get();
      queue.shutDown();
      assert(isUnknown(metrics.shown));
      assertEquals(metrics.calls, [`depth ${name}`, `gone ${name}`, `depth ${name}`, `gone ${name}`]);
      assert(!lease.shutdown);
      await lease.finish();
      await queue.shutDownWithDrain();
      assert(metrics.looks.length > looks);

      place.measure(queue, metrics, EVERY)[Symbol.dispose]();
      assertEquals(metrics.calls.length, 4, "of a queue that was shut down there is nothing to measure");
    },
  );

  test(
    "queue metrics: gone is called when the last queue object and pool of a name has ended, and not before",
    async (place) => {
      const name = uniqueName("metrics");
      const metrics = new Watched(name);
      const options = { name, metrics };
      const [watched, worked] = [place.open(options), place.open(options)];
      const { promise: ending, resolve: end } = Promise.withResolvers<void>();
      const pool = runWorkers(worked, () => ending);
      place.measure(watched, undefined, EVERY);
      await watched.add("a");
      await metrics.until(() => pool.active === 1);
      await watched.shutDownWithDrain();
      worked.shutDown();
      assertEquals([metrics.calls, metrics.value("workqueue_active", name)], [[`depth ${name}`], 1]);
      end();
      await worked.shutDownWithDrain();
      await pool.finished;
      assertEquals(metrics.calls, [`depth ${name}`, `gone ${name}`]);
    },
  );

  test("queue metrics: a new measurement of a queue replaces the previous one", async (place) => {
    const name = uniqueName("metrics");
    await using queue = place.open({ name });
    await queue.add("a");
    const metrics = new Watched(name);
    const first = place.measure(queue, metrics, EVERY);
    await metrics.until(({ depth }) => depth === 1);
    using _second = place.measure(queue, metrics, { every: "1h" });
    await metrics.until(({ depth }) => depth === 1);
    first[Symbol.dispose]();
    assertEquals(metrics.shown.depth, 1);
  });

  test("queue metrics: a provider may have few methods, and may throw", async (place) => {
    using printed = new Console();
    const name = uniqueName("metrics");
    await using queue = place.open({ name });
    await queue.addAll(["a", "b", "c"]);
    let depth = 0;
    let onStep = () => {};
    const gauge: Gauge = {
      inc() {
        if (printed.lines.length === 0) throw new Error("full");
        depth++;
        onStep();
      },
      dec() {
        depth--;
        onStep();
      },
    };
    const measuring = place.measure(queue, { depth: () => gauge } as unknown as MetricsProvider, EVERY);
    const until = async (count: number) => {
      while (depth !== count) await new Promise<void>((resolve) => onStep = resolve);
    };
    await until(3);
    const lease = await queue.get();
    await until(2);
    assert(!lease.shutdown);
    await lease.finish();
    measuring[Symbol.dispose]();
    assertEquals(depth, 0, "what has steps only goes back to where it was");
    assertEquals(printed.lines, [`Cannot measure 'depth' of queue "${name}": "Error: full"`]);
  });

  test("rule 11: queue metrics: a gauge that throws or rejects doesn't keep others from being set", async (place) => {
    const faults: ((value: number) => unknown)[] = [
      () => {
        throw new Error("full");
      },
      () => Promise.reject(new Error("full")),
    ];
    for (const gauge of ["depth", "delayed", "blocked", "oldestReady"] as const) {
      for (const fail of faults) {
        using printed = new Console();
        const name = uniqueName("metrics");
        const errors: unknown[] = [];
        await using queue = place.open({ name, onQueueError: (error) => void errors.push(error) });
        await queue.add("a");
        await queue.addAfter("b", "1h");
        let onSet = () => {};
        const values: Record<string, number[]> = { depth: [], delayed: [], blocked: [], oldestReady: [] };
        const gauges = Object.entries(values).map(([each, set]) => {
          const keep = (value: number) => {
            set.push(value);
            onSet();
          };
          return [each, () => ({ set: each === gauge ? fail : keep })];
        });
        const measuring = place.measure(queue, Object.fromEntries(gauges) as MetricsProvider, EVERY);
        const others = Object.entries(values).filter(([each]) => each !== gauge);
        while (others.some(([, set]) => set.length < 3)) await new Promise<void>((resolve) => onSet = resolve);
        measuring[Symbol.dispose]();
        for (const [each, set] of others) {
          const isRight = (value: number) =>
            each === "oldestReady" ? value > 0 : value === (each === "blocked" ? 0 : 1);
          assert(set.slice(0, 3).every(isRight), `${set}`);
          assert(Number.isNaN(set.at(-1)), each);
        }
        assertEquals(printed.lines, [`Cannot measure '${gauge}' of queue "${name}": "Error: full"`]);
        assertEquals(errors, []);
      }
    }
  });

  test(
    "rule 11: queue metrics: a gauge without set whose steps reject causes no unhandled rejection",
    async (place) => {
      const { promise: isPrinted, resolve } = Promise.withResolvers<string>();
      using printed = new Console(resolve);
      const name = uniqueName("metrics");
      await using queue = place.open({ name });
      await queue.add("a");
      const reject = () => Promise.reject(new Error("full")) as unknown as void;
      const metrics = { depth: () => ({ inc: reject, dec: reject }) } as unknown as MetricsProvider;
      using _measuring = place.measure(queue, metrics, EVERY);
      await isPrinted;
      assertEquals(printed.lines, [`Cannot measure 'depth' of queue "${name}": "Error: full"`]);
    },
  );

  test("queue metrics: invalid arguments are refused", async (place) => {
    const metrics = new InMemoryMetrics();
    await using queue = place.open({ name: "q" });
    const measure = (...args: unknown[]) => (place.measure as (...args: unknown[]) => Disposable)(...args);
    for (const wrong of [undefined, {}, createWorkQueue()]) {
      assertThrows(() => measure(wrong, metrics), TypeError, `'queue' must be a queue on ${place.product}`);
    }
    for (const wrong of [undefined, {}]) assertThrows(() => measure(queue, wrong), TypeError, "a provider of metrics");
    assertThrows(() => measure(queue, metrics, { evry: 1 }), TypeError, 'did you mean "every"');
    for (const every of ["1", null]) assertThrows(() => measure(queue, metrics, { every }), TypeError, "every");
    for (const every of [0, 99, "25h", Infinity]) {
      assertThrows(() => measure(queue, metrics, { every }), RangeError, "every");
    }
    assertEquals(metrics.value("workqueue_depth", "q"), undefined, "nothing was made");
  });
}
