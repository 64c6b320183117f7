/** Tests of API responses about queues in memory while items are being processed. */

import { assert, assertEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import {
  createExponentialLimiter,
  createFairDiscipline,
  createPriorityDiscipline,
  createRateLimitingQueue,
  InMemoryMetrics,
  loadConfig,
  type RateLimitingQueueOptions,
  runWorkers,
  TerminalError,
  type TokenBucket,
  type WorkerOptions,
} from "@workqueue/core";
import { flush } from "../queue_helpers.ts";
import { Asked } from "./dashboards.ts";

/** Starts a queue with a pool. Items whose keys begin with `bad` fail; other items take one second. */
function start<T = string>(options: RateLimitingQueueOptions<T> & { workers?: WorkerOptions<T> } = {}) {
  const { workers = {}, ...others } = options;
  const queue = createRateLimitingQueue<T>(createExponentialLimiter({ baseDelay: 1000, maxDelay: 60_000 }), others);
  const pool = runWorkers(queue, async (item) => {
    const text = String(item);
    if (text.startsWith("bad")) throw new Error("no such customer");
    if (text.startsWith("gone")) throw new TerminalError("404");
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }, { onError: () => {}, ...workers });
  return { queue, pool };
}

async function end(time: FakeTime, queue: { shutDown(): void }, pool: { stop(): Promise<void> }): Promise<void> {
  queue.shutDown();
  const stopped = pool.stop();
  await pass(time, 5000);
  await stopped;
}

/** Advances the time, second by second. */
async function pass(time: FakeTime, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 1000) {
    time.tick(Math.min(left, 1000));
    await flush();
  }
}

Deno.test("state: rows show counts, rates, the oldest item and the workers", async () => {
  using time = new FakeTime();
  const { queue, pool } = start();
  using asked = new Asked({ queues: { images: { queue, pool } } });
  await flush();
  for (const item of ["a", "b", "c", "bad", "gone"]) queue.add(item);
  queue.addAfter("later", 100_000);
  await flush();

  const first = await asked.row();
  assertEquals(first.counts, { ready: 4, blocked: 0, delayed: 1, processing: 1, failing: 0 });
  assertEquals(first.workers, { active: 1, concurrency: 1 });
  assertEquals(first.paused, false);
  assertEquals([first.name, first.engine, first.verdict], ["images", "memory", "busy"]);
  assertEquals(first.rates, { in: null, out: null, failures: null, givenUp: null });

  await pass(time, 2000);
  assertEquals((await asked.row()).oldestReadyMs, 2000);
  await pass(time, 8000);
  const { counts, rates } = await asked.row();
  assertEquals(counts, { ready: 0, blocked: 0, delayed: 2, processing: 0, failing: 1 });
  assertEquals([rates.out, rates.failures, rates.givenUp], [0.8, 0.5, 0.1]); // "bad" four times
  const none = { maxRetries: 0, terminal: 0, shutdown: 0, stalled: 0, limiter: 0 };
  assertEquals((await asked.details("images")).givenUpFor, { ...none, terminal: 1 });
  await end(time, queue, pool);
});

Deno.test("state: the age of the oldest ready item is exact, even if the item is older than all samples", async () => {
  for (const discipline of [undefined, createPriorityDiscipline<string>({ maxHeadStart: Infinity })]) {
    using time = new FakeTime();
    const limiter = createExponentialLimiter({ baseDelay: 1, maxDelay: 1 });
    const queue = createRateLimitingQueue<string>(limiter, { discipline });
    queue.add("first");
    await pass(time, 1000);
    using asked = new Asked({ queues: { images: { queue } } });
    const oldest = async () => (await asked.row()).oldestReadyMs;
    await flush();
    await pass(time, 2000);
    assertEquals(await oldest(), 2000); // at least: the queue has no record of the time before the dashboard
    queue.tryGet();
    queue.addAfter("a", 1000);
    await pass(time, 3000);
    assertEquals(await oldest(), 2000);
    await pass(time, 20 * 60_000);
    queue.add("b", { priority: 1 });
    await pass(time, 1000);
    assertEquals(await oldest(), 20 * 60_000 + 3000);
    queue.tryGet();
    await pass(time, 1000);
    assertEquals(await oldest(), discipline === undefined ? 2000 : 20 * 60_000 + 4000);
    queue.tryGet();
    await pass(time, 1000);
    assertEquals(await oldest(), null);
  }
});

Deno.test("state: a blocked item counts for the oldest ready item, on the page as in the metric", async () => {
  using time = new FakeTime();
  const metrics = new InMemoryMetrics();
  const discipline = createFairDiscipline<string>({ groupOf: (item) => item[0]!, maxPerGroup: 1 });
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 1, maxDelay: 1 }), {
    ...{ name: "images", metrics, discipline },
  });
  queue.add("a1");
  queue.add("a2");
  queue.tryGet();
  await pass(time, 1000);
  using asked = new Asked({ queues: { images: { queue } } });
  await pass(time, 30 * 60_000);
  const { counts, oldestReadyMs } = await asked.row();
  assertEquals([counts.ready, counts.blocked, oldestReadyMs], [0, 1, 30 * 60_000 + 1000]);
  assertEquals(metrics.value("workqueue_oldest_ready_seconds", "images"), 30 * 60 + 1);
  queue.shutDown();
});

Deno.test("state: 180 samples are kept, five seconds apart, with or without viewers", async () => {
  using time = new FakeTime();
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 1, maxDelay: 1 }));
  using asked = new Asked({ queues: { images: { queue } } });
  await flush();
  for (let i = 0; i < 200; i++) {
    queue.add(`${i}`);
    time.tick(5000);
    await flush();
  }
  const { history, trend } = await asked.details("images");
  assertEquals(history.time.length, 180);
  assert(history.time.every((at, i) => i === 0 || at - history.time[i - 1]! === 5000));
  assertEquals([history.ready[0], history.ready.at(-1)], [21, 200]);
  assertEquals([history.in[0], history.in[1], history.out.at(-1), history.failures.at(-1)], [null, 0.2, 0, null]);
  assertEquals([trend.length, trend.at(-1)! > trend[0]!], [60, true]);
});

Deno.test("state: a backlog without workers is stuck after half a minute, and not while workers make progress", async () => {
  using time = new FakeTime();
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 1, maxDelay: 1 }));
  using asked = new Asked({ queues: { images: { queue } } });
  await flush();
  queue.add("a");
  queue.add("b");
  await pass(time, 5000);
  assertEquals((await asked.verdict())[0], "healthy");
  await pass(time, 25_000);
  assertEquals((await asked.verdict())[0], "busy"); // the items wait longer and longer
  await pass(time, 5000);
  assertEquals(await asked.verdict(), [
    "stuck",
    "Nothing has been handed out for 30 s, although 2 items are ready: no worker takes them.",
  ]);
  for (let i = 0; i < 2; i++) queue.tryGet();
  await pass(time, 5000);
  assertEquals((await asked.verdict())[0], "stuck"); // a better verdict has to last
  await pass(time, 5000);
  assertEquals((await asked.verdict())[0], "healthy");
});

Deno.test("state: an outage, a poison item and a hot tenant are recognized", async () => {
  using time = new FakeTime();
  const { queue, pool } = start({ name: "orders" });
  using asked = new Asked({ queues: { orders: { queue, pool } } });
  await flush();
  for (let i = 0; i < 6; i++) queue.add(`bad/${i}`);
  await pass(time, 10_000);
  const [verdict, reason] = await asked.verdict();
  assertEquals(verdict, "failing");
  assertEquals(
    reason.replace(/"bad\/\d"/, "…"),
    "6 of 6 attempts failed in the last 5 s, for example … with Error: no such customer.",
  );

  await pass(time, 600_000);
  for (let i = 1; i < 6; i++) queue.cancelDelayed(`bad/${i}`); // one item is left
  await pass(time, 120_000);
  assertEquals(
    (await asked.verdict())[1].replace(/failed \d+ times/, "failed"),
    '"bad/0" failed: Error: no such customer.',
  );

  for (let i = 0; i < 120; i++) queue.add(`tenant-7/${i}`);
  queue.add("tenant-8/1");
  await pass(time, 1000);
  assertEquals((await asked.verdict())[1].endsWith('"tenant-7" has 99 % of the ready items.'), true);
  await end(time, queue, pool);
});

Deno.test("state: pauses of a queue and of a throttle are shown", async () => {
  using time = new FakeTime();
  const config = loadConfig({ queues: { images: { throttle: { rate: 100, burst: 1 } } } });
  const queue = config.queue<string>("images");
  const pool = config.runWorkers("images", queue, () => {});
  using asked = new Asked({ queues: { images: { queue, pool } }, config });
  await flush();
  pool.pause();
  queue.add("a");
  assertEquals((await asked.verdict())[0], "paused");
  await pass(time, 60_000);
  assertEquals((await asked.verdict())[0], "paused");
  pool.resume();
  await pass(time, 1000);
  (pool.throttle as TokenBucket).pauseFor(30_000);
  queue.add("b");
  assertEquals(await asked.verdict(), [
    "paused",
    "The throttle is paused: no attempt starts for another 30 s; 1 item is ready.",
  ]);
  await end(time, queue, pool);
});

Deno.test("details: lists show failing, running, delayed and ready items, and find them by a part of the key", async () => {
  using time = new FakeTime();
  const { queue, pool } = start({ workers: { concurrency: 2 } });
  using asked = new Asked({ queues: { "a/b c": { queue, pool } } });
  await flush();
  queue.add("bad/1");
  await flush();
  await pass(time, 1000); // the item has failed twice
  for (const item of ["acme/1", "acme/2", "acme/3", "Other/4"]) queue.add(item);
  queue.addAfter("acme/9", 5000);
  await flush();
  await pass(time, 500);

  const all = await asked.details("a/b c");
  assertEquals(all.failingItems, [{
    ...{ key: "bad/1", attempts: 2, error: "Error: no such customer" },
    ...{ ago: 500, dueInMs: 1500, decidedBy: null },
  }]);
  assertEquals(all.runningItems, [{ key: "acme/1", attempt: 1, for: 500 }, { key: "acme/2", attempt: 1, for: 500 }]);
  assertEquals(all.delayedItems, [{ key: "bad/1", dueInMs: 1500, priority: 0 }, {
    key: "acme/9",
    dueInMs: 4500,
    priority: 0,
  }]);
  assertEquals(all.readyItems, [{ key: "acme/3", priority: 0 }, { key: "Other/4", priority: 0 }]);
  assertEquals(all.groups, [{ name: "acme", count: 1 }, { name: "Other", count: 1 }]);
  assertEquals([all.matching, all.throttle, all.limiter], [2, null, null]);

  const some = await asked.details("a/b c", "?search=ACME&limit=1");
  assertEquals([some.failingItems, some.runningItems.length, some.matching], [[], 1, 1]);
  assertEquals([some.delayedItems[0]!.key, some.readyItems[0]!.key], ["acme/9", "acme/3"]);
  await end(time, queue, pool);
});

Deno.test("details: a search finds delayed items beyond the listed ones", async () => {
  using _time = new FakeTime();
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 1, maxDelay: 1 }));
  using asked = new Asked({ queues: { images: { queue } } });
  for (let i = 0; i < 5000; i++) queue.addAfter(`order-${i}`, 1000 + i);
  const { delayedItems, matching } = await asked.details("images", "?search=order-499");
  assertEquals([matching, delayedItems.length, delayedItems[0]!.key], [11, 11, "order-499"]);
  assertEquals((await asked.details("images")).matching, 5000);
});

Deno.test("details: every item has a text, whatever it is and whatever keyText does", async () => {
  const circle: Record<string, unknown> = { id: 1n };
  circle["self"] = circle;
  const twice = { a: 1 };
  const queue = createRateLimitingQueue<unknown>(createExponentialLimiter({ baseDelay: 1, maxDelay: 1 }));
  for (const item of [circle, [twice, twice], 7, undefined, "<script>alert(1)</script>", "y".repeat(600)]) {
    queue.add(item);
  }
  const keyed = createRateLimitingQueue<{ id: number }>(createExponentialLimiter({ baseDelay: 1, maxDelay: 1 }), {
    keyOf: ({ id }) => id,
  });
  keyed.add({ id: 5 });
  const keyText = () => {
    throw new Error("not this one");
  };
  using asked = new Asked({
    queues: {
      queue: { queue },
      keyed: { queue: keyed },
      texts: { queue: keyed, keyText: ({ id }) => `#${id}` },
      bad: { queue: keyed, keyText },
    },
  });
  const keys = async (name: string) => (await asked.details(name)).readyItems.map(({ key }) => key);
  assertEquals(await keys("queue"), [
    '{"id":"1","self":"(itself)"}',
    '[{"a":1},{"a":1}]',
    "7",
    "undefined",
    "<script>alert(1)</script>",
    "y".repeat(499) + "…",
  ]);
  assertEquals([await keys("keyed"), await keys("texts"), await keys("bad")], [["5"], ["#5"], [
    "(no text: Error: not this one)",
  ]]);
});

Deno.test("details: the text of an object is created once, however often it is shown", async () => {
  using time = new FakeTime();
  const queue = createRateLimitingQueue<object>(createExponentialLimiter({ baseDelay: 1, maxDelay: 1 }));
  let made = 0;
  queue.add({ toJSON: () => `${++made} ${"x".repeat(1000)}` });
  const keyed = createRateLimitingQueue<object>(createExponentialLimiter({ baseDelay: 1, maxDelay: 1 }));
  keyed.addAfter({ id: 5 }, 100_000);
  let asks = 0;
  const keyText = ({ id }: { id: number }) => `#${id}, ${++asks}`;
  using asked = new Asked({ queues: { queue: { queue }, keyed: { queue: keyed, keyText } } });
  for (let i = 0; i < 3; i++) {
    const { key } = (await asked.details("queue", "?search=x")).readyItems[0]!;
    assertEquals([key.length, key.slice(0, 5), key.at(-1)], [500, '"1 xx', "…"]);
    assertEquals((await asked.details("keyed", "?search=5")).delayedItems[0]!.key, "#5, 1");
    await pass(time, 2000);
  }
  assertEquals([made, asks], [1, 1]);
});

Deno.test("details: errors are one line, and short", async () => {
  using time = new FakeTime();
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 1000, maxDelay: 1000 }));
  const pool = runWorkers(queue, () => {
    throw new Error(`<img src=x onerror=alert(1)>\n\u202e${"z".repeat(1000)}`);
  }, { onError: () => {} });
  using asked = new Asked({ queues: { images: { queue, pool } } });
  queue.add("a");
  await flush();
  const { error } = (await asked.details("images")).failingItems[0]!;
  assert(error.startsWith("Error: <img src=x onerror=alert(1)> zzz"), error);
  assert(error.length <= 500);
  await end(time, queue, pool);
});

Deno.test("state: a pause of the throttle does not count as time in which nothing was handed out", async () => {
  using time = new FakeTime();
  const config = loadConfig({ queues: { images: { throttle: { rate: 100, burst: 1 } } } });
  const queue = config.queue<string>("images");
  using asked = new Asked({ queues: { images: { queue } }, config });
  queue.add("a");
  (config.workers("images").throttle as TokenBucket).pauseFor("1m");
  await pass(time, 59_000);
  assertEquals((await asked.verdict())[0], "paused");
  await pass(time, 20_000);
  assertEquals((await asked.verdict())[0], "busy"); // the item waits longer and longer
  await pass(time, 20_000);
  assertEquals((await asked.verdict())[0], "stuck");
});
