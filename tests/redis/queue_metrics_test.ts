/** Tests of the gauges that describe a whole queue, on a real server. */

import { assert, assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { createWorkQueue, InMemoryMetrics, runWorkers } from "@workqueue/core";
import type { Gauge, MetricsProvider, SettableGauge } from "@workqueue/core/metrics";
import { createRedisQueue, redisQueueMetrics } from "@workqueue/redis";
import { Console } from "../helpers.ts";
import { engineTest, keysOf } from "./bench.ts";
import { RedisProxy } from "./proxy.ts";
import { redisTest, serverTest, uniqueName } from "./redis_tests.ts";
import { RedisServer } from "./server.ts";

/** Values of the gauges after a measurement. */
type Shown = Record<"depth" | "delayed" | "blocked" | "oldestReady", number>;

/** Provider that records each measurement. A measurement sets the gauge `oldestReady` last. */
class Watched extends InMemoryMetrics {
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

const EVERY = { every: 100 };

function isUnknown({ depth, delayed, blocked, oldestReady }: Shown): boolean {
  return [depth, delayed, blocked, oldestReady].every(Number.isNaN);
}

redisTest("queue metrics: what is ready and delayed, of all processes, and what the oldest is", async ({ url }) => {
  const name = uniqueName("metrics");
  await using queue = createRedisQueue({ name, url });
  await using other = createRedisQueue({ name, url });
  await other.addAll(["a", "b"]);
  await other.addAfter("c", "1h");
  const metrics = new Watched(name);
  using _measuring = redisQueueMetrics(queue, metrics, EVERY);
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

redisTest("queue metrics: those of the queue's own provider, unless there is another", async ({ url }) => {
  const name = uniqueName("metrics");
  const metrics = new Watched(name);
  await using queue = createRedisQueue({ name, url, metrics });
  await queue.add("a");
  using _measuring = redisQueueMetrics(queue);
  await metrics.until(({ depth }) => depth === 1);
  await using unmeasured = createRedisQueue({ name, url });
  assertThrows(
    () => redisQueueMetrics(unmeasured),
    TypeError,
    "Cannot measure Redis queue: 'metrics' must be a provider of metrics, got undefined",
  );
});

redisTest(
  "queue metrics: they end with the queue object, or before",
  async ({ url }) => {
    const name = uniqueName("metrics");
    const queue = createRedisQueue({ name, url });
    await queue.add("a");
    const metrics = new Watched(name);
    const first = redisQueueMetrics(queue, metrics, EVERY);
    await metrics.until(({ depth }) => depth === 1);
    first[Symbol.dispose]();
    first[Symbol.dispose]();
    assert(isUnknown(metrics.shown), "after the end there is no number");
    const looks = metrics.looks.length;

    redisQueueMetrics(queue, metrics, EVERY);
    await metrics.until(({ depth }) => depth === 1);
    const lease = await queue.get();
    queue.shutDown();
    assert(isUnknown(metrics.shown));
    assertEquals(metrics.calls, [`depth ${name}`, `gone ${name}`, `depth ${name}`, `gone ${name}`]);
    assert(!lease.shutdown);
    await lease.finish();
    await queue.shutDownWithDrain();
    assert(metrics.looks.length > looks);

    redisQueueMetrics(queue, metrics, EVERY)[Symbol.dispose]();
    assertEquals(metrics.calls.length, 4, "of a queue that was shut down there is nothing to measure");
  },
);

redisTest(
  "queue metrics: gone when the last queue object and pool of a name has ended, and not before",
  async ({ url }) => {
    const name = uniqueName("metrics");
    const metrics = new Watched(name);
    const options = { name, url, metrics };
    const [watched, worked] = [createRedisQueue(options), createRedisQueue(options)];
    const { promise: ending, resolve: end } = Promise.withResolvers<void>();
    const pool = runWorkers(worked, () => ending);
    redisQueueMetrics(watched);
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

redisTest("queue metrics: what measures anew takes the place of what did before", async ({ url }) => {
  const name = uniqueName("metrics");
  await using queue = createRedisQueue({ name, url });
  await queue.add("a");
  const metrics = new Watched(name);
  const first = redisQueueMetrics(queue, metrics, EVERY);
  await metrics.until(({ depth }) => depth === 1);
  using _second = redisQueueMetrics(queue, metrics, { every: "1h" });
  await metrics.until(({ depth }) => depth === 1);
  first[Symbol.dispose]();
  assertEquals(metrics.shown.depth, 1);
});

redisTest("queue metrics: each look is one call", async ({ url }) => {
  await using proxy = await RedisProxy.start(url);
  const name = uniqueName("metrics");
  await using queue = createRedisQueue({ name, url: proxy.url });
  const metrics = new Watched(name);
  using _measuring = redisQueueMetrics(queue, metrics, EVERY);
  await metrics.until(() => metrics.looks.length >= 3);
  // Requests arrive in pieces. One more call reads the server's settings.
  assertEquals(proxy.requests.join("").split(`{${name}}:meta`).length - 1, metrics.looks.length + 1);
});

serverTest("queue metrics: while the server is away nobody knows, which is reported once", async () => {
  await using server = await RedisServer.start({ appendonly: true });
  const name = uniqueName("metrics");
  const errors: string[] = [];
  const onQueueError = (error: unknown) => void errors.push(String(error));
  await using queue = createRedisQueue({ name, url: server.url, callTimeout: 400, onQueueError });
  await queue.add("a");
  const metrics = new Watched(name);
  using _measuring = redisQueueMetrics(queue, metrics, EVERY);
  await metrics.until(({ depth }) => depth === 1);
  for (const outage of [1, 2]) {
    await server.kill("SIGKILL");
    await metrics.until(isUnknown);
    await queue.counts().catch(() => {}); // when this call fails, the next measurement has failed too or soon will
    await queue.counts().catch(() => {});
    await queue.counts().catch(() => {});
    await server.start();
    await metrics.until(({ depth }) => depth === 1);
    assertEquals(errors.length, outage * 4, errors.join("\n"));
  }
});

redisTest("queue metrics: a provider may have little, and may throw", async ({ url }) => {
  using printed = new Console();
  const name = uniqueName("metrics");
  await using queue = createRedisQueue({ name, url });
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
  const measuring = redisQueueMetrics(queue, { depth: () => gauge } as unknown as MetricsProvider, EVERY);
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

redisTest("rule 11: queue metrics: a gauge that throws or rejects keeps no other from being set", async ({ url }) => {
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
      await using queue = createRedisQueue({ name, url, onQueueError: (error) => void errors.push(error) });
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
      const measuring = redisQueueMetrics(queue, Object.fromEntries(gauges) as MetricsProvider, EVERY);
      const others = Object.entries(values).filter(([each]) => each !== gauge);
      while (others.some(([, set]) => set.length < 3)) await new Promise<void>((resolve) => onSet = resolve);
      measuring[Symbol.dispose]();
      for (const [each, set] of others) {
        const isRight = (value: number) => each === "oldestReady" ? value > 0 : value === (each === "blocked" ? 0 : 1);
        assert(set.slice(0, 3).every(isRight), `${set}`);
        assert(Number.isNaN(set.at(-1)), each);
      }
      assertEquals(printed.lines, [`Cannot measure '${gauge}' of queue "${name}": "Error: full"`]);
      assertEquals(errors, []);
    }
  }
});

redisTest(
  "rule 11: queue metrics: a gauge without set whose steps reject leaves no rejection unhandled",
  async ({ url }) => {
    const { promise: isPrinted, resolve } = Promise.withResolvers<string>();
    using printed = new Console(resolve);
    const name = uniqueName("metrics");
    await using queue = createRedisQueue({ name, url });
    await queue.add("a");
    const reject = () => Promise.reject(new Error("full")) as unknown as void;
    const metrics = { depth: () => ({ inc: reject, dec: reject }) } as unknown as MetricsProvider;
    using _measuring = redisQueueMetrics(queue, metrics, EVERY);
    await isPrinted;
    assertEquals(printed.lines, [`Cannot measure 'depth' of queue "${name}": "Error: full"`]);
  },
);

Deno.test("queue metrics: what is not right is refused", async () => {
  const metrics = new InMemoryMetrics();
  await using queue = createRedisQueue({ name: "q" });
  const measure = (...args: unknown[]) => (redisQueueMetrics as (...args: unknown[]) => Disposable)(...args);
  for (const wrong of [undefined, {}, createWorkQueue()]) {
    assertThrows(() => measure(wrong, metrics), TypeError, "'queue' must be a queue on Redis");
  }
  for (const wrong of [undefined, {}]) assertThrows(() => measure(queue, wrong), TypeError, "a provider of metrics");
  assertThrows(() => measure(queue, metrics, { evry: 1 }), TypeError, 'did you mean "every"');
  assertThrows(() => measure(queue, metrics, { every: "1" }), TypeError, "every");
  for (const every of [0, 99, "25h", Infinity]) {
    assertThrows(() => measure(queue, metrics, { every }), RangeError, "every");
  }
  assertEquals(metrics.value("workqueue_depth", "q"), undefined, "nothing was made");
});

engineTest("the oldest of what is ready has been so since it was added, or was due", async (bench) => {
  const oldest = async () => (await bench.engine.counts()).oldestReadyMs;
  assertEquals(await oldest(), 0);
  await bench.addAfter(2000, "later");
  await bench.pass(1000);
  assertEquals(await oldest(), 0, "delayed items are not ready");
  await bench.pass(3000);
  const since = await oldest();
  assert(Math.abs(since - 2000) < 1, `${since} ms`);
  await bench.add("now");
  await bench.pass(1000);
  assertEquals(Math.round(await oldest()), 3000);
  assertEquals(keysOf(await bench.take("one")), ["later"]);
  assertEquals(Math.round(await oldest()), 1000);
});

engineTest("the oldest of what is due is known before it is in the line", async (bench) => {
  const keys = Array.from({ length: 450 }, (_, i) => `key ${i}`); // more keys than one call makes ready
  await bench.addAfter(1000, ...keys);
  await bench.pass(500);
  bench.jump(1500);
  const { ready, delayed, oldestReadyMs: oldestReady } = await bench.engine.counts();
  assertEquals([ready, delayed, Math.round(oldestReady)], [450, 0, 1000]);
});

engineTest("what comes back has been ready since it was handed out to who did not end it", async (bench) => {
  const oldest = async () => Math.round((await bench.engine.counts()).oldestReadyMs);
  await bench.add("a", "b", "c");
  await bench.pass(1000);
  assertEquals(keysOf(await bench.take("lost")), ["a"]);
  await bench.pass(bench.lease + 1);
  assertEquals(keysOf(await bench.take("other", 1)), ["a"], "which stands in front, and is handed out alone");
  assertEquals(await oldest(), bench.lease + 1001, "b");
  await bench.engine.release("other", []);
  assertEquals(keysOf(await bench.take("third", 1)), ["a"]);
  await bench.pass(1000);
  await bench.engine.release("third", []);
  assertEquals(await oldest(), bench.lease + 2001, "b is older still");
  const fourth = await bench.take("fourth", 1);
  assertEquals(await bench.finish("a", fourth.taken[0]!.token), true);
  assertEquals(keysOf(await bench.take("fourth", 2)), ["b", "c"]);
  await bench.pass(3000);
  await bench.engine.release("fourth", []);
  assertEquals(await oldest(), 3000, "since the hand-out, and not since the add");
});

engineTest("the oldest of what is ready is as old as it is, for hours, in whichever line it stands", async (bench) => {
  const HOUR = 3_600_000;
  const oldest = async () => {
    const { oldestReadyMs } = await bench.engine.counts();
    assert(Math.abs((await bench.engine.snapshot(0)).oldestReadyMs - oldestReadyMs) < 1);
    return Math.round(oldestReadyMs);
  };
  await bench.add("a");
  await bench.pass(HOUR);
  assertEquals(await oldest(), HOUR, "ready");
  const { taken: [first] } = await bench.take("one");
  await bench.pass(HOUR);
  assertEquals(await oldest(), 0, "processing");
  await bench.finish("a", first!.token, "handedBack");
  await bench.pass(HOUR);
  assertEquals(await oldest(), HOUR, "handed back an hour ago");
  for (const line of ["stalled", "suspects"]) {
    assertEquals(keysOf(await bench.take(`lost before ${line}`)), ["a"]);
    await bench.pass(bench.lease + 1);
    await bench.engine.pause();
    await bench.take("finder"); // finds that the lease has expired, and takes nothing
    await bench.pass(HOUR);
    assertEquals([await bench.stored("ZCARD", line), await oldest()], [1, HOUR + bench.lease + 1], line);
    await bench.engine.resume();
  }
  const { taken: [last] } = await bench.take("last");
  assertEquals(await bench.finish("a", last!.token), true);
  assertEquals(await oldest(), 0);
  await bench.addAfter(HOUR, ...Array.from({ length: 450 }, (_, i) => `due ${i}`));
  bench.jump(3 * HOUR);
  assertEquals(await oldest(), 2 * HOUR, "due, and partly moved");
});
