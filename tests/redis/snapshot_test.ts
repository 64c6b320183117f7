/** Tests of snapshots of a queue. A single call returns the queue's counts, items and failing items. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { createWorkQueue, limiters, runWorkers, TerminalError } from "@workqueue/core";
import { createRedisQueue } from "@workqueue/redis";
import { planLimiter } from "../../packages/engine/limiter_plan.ts";
import { addRateLimited } from "../contracts/engine_bench.ts";
import { type Bench, engineTest, LEASE } from "./bench.ts";
import { countsOf } from "../contracts/counts.ts";
import { redisTest, uniqueName } from "./redis_tests.ts";

const NONE = { maxRetries: 0, terminal: 0, shutdown: 0, stalled: 0, limiter: 0 };

/** Makes a key fail this many times. The key is then delayed for five seconds. */
async function fail(bench: Bench, key: string, times = 1): Promise<void> {
  for (let i = 0; i < times; i++) {
    if (!await bench.engine.promoteDelayed(key)) await bench.add(key);
    const { taken: [taken] } = await bench.take("o");
    const reason = `${key}, for the ${i + 1}th time`;
    await bench.turn("o", [{ key, token: taken!.token, kind: "retry", delay: 5000, reason }]);
  }
}

async function failing(bench: Bench, limit = 10): Promise<[key: string, attempts: number][]> {
  const { failingItems } = await bench.engine.snapshot(limit);
  return failingItems.map(({ key, attempts }) => [key, attempts]);
}

engineTest("snapshots have the counts, and lists that agree with them", async (bench) => {
  await fail(bench, "a", 2);
  await bench.add("processing", "ready");
  await bench.take("o");
  for (let i = 0; i < 300; i++) await bench.addAfter(10, `due ${i}`);
  await bench.pass(2000);
  for (let i = 0; i < 2; i++) {
    const snapshot = await bench.engine.snapshot(20);
    const { ready, blocked, delayed, processing, failing, givenUp, oldestReadyMs } = snapshot;
    const { oldestReadyMs: expected, ...counts } = await bench.engine.counts();
    assertEquals({ ready, blocked, delayed, processing, failing, givenUp }, counts);
    assert(Math.abs(oldestReadyMs - expected) < 1 && oldestReadyMs > 1000, `${oldestReadyMs}, ${expected}`);
    const keysOf = (entries: readonly { key: string }[]) => entries.map(({ key }) => key);
    assertEquals(keysOf(snapshot.readyItems), ["ready", ...Array.from({ length: 19 }, (_, i) => `due ${i}`)]);
    assertEquals([keysOf(snapshot.delayedItems), delayed], [["a"], 1]);
    assertEquals([keysOf(snapshot.processingItems), processing], [["processing"], 1]);
    assertEquals([keysOf(snapshot.failingItems), failing], [["a"], 1]);
  }
});

engineTest("a snapshot of an empty queue", async (bench) => {
  assertEquals(await bench.engine.snapshot(10), {
    ...{ ready: 0, blocked: 0, delayed: 0, processing: 0, failing: 0, givenUp: 0, oldestReadyMs: 0, paused: false },
    ...{ readyItems: [], delayedItems: [], processingItems: [], failingItems: [] },
    totals: { handedOut: 0, failed: 0, givenUp: 0, givenUpFor: NONE },
  });
});

engineTest("a snapshot says whether the queue is paused", async (bench) => {
  await bench.engine.pause();
  assertEquals((await bench.engine.snapshot(0)).paused, true);
  await bench.engine.resume();
  assertEquals((await bench.engine.snapshot(0)).paused, false);
});

engineTest("failing items are shown with their last errors, the most attempts first", async (bench) => {
  for (const [key, times] of [["b", 1], ["a", 1], ["c", 3]] as const) await fail(bench, key, times);
  const { failingItems: [c, a, b] } = await bench.engine.snapshot(10);
  assert(c!.dueInMs! > 4990 && c!.dueInMs! < 5000, `${c!.dueInMs}`);
  assertEquals({ ...c, dueInMs: 5000 }, {
    ...{ key: "c", payload: "of c", attempts: 3, error: "c, for the 3th time", dueInMs: 5000 },
  });
  assertEquals([a!.key, b!.key], ["a", "b"]);
  assertEquals(await failing(bench, 2), [["c", 3], ["a", 1]]);
  assertEquals(await failing(bench, 0), []);
}, { hasItems: true });

engineTest(
  "a failing item that is not delayed is shown without a time, as long as it will be retried",
  async (bench) => {
    for (const key of ["ready", "processing", "cancelled", "done", "due"]) await fail(bench, key);
    await bench.engine.promoteDelayed("done");
    const { taken: [done] } = await bench.take("o");
    await bench.finish("done", done!.token, "done");
    await bench.engine.cancelDelayed("cancelled");
    await bench.engine.promoteDelayed("processing");
    await bench.take("o");
    await bench.engine.promoteDelayed("ready");
    const { failing, failingItems } = await bench.engine.snapshot(10);
    const dues = Object.fromEntries(failingItems.map(({ key, dueInMs }) => [key, dueInMs !== undefined]));
    assertEquals([failing, dues], [5, { due: true, processing: false, ready: false }]);
  },
);

engineTest(
  "a failing item that is due is shown without a time, even if more items are due than a call moves",
  async (bench) => {
    await bench.addAfter(10, ...Array.from({ length: 300 }, (_, i) => `${i}`));
    await addRateLimited(bench.engine, { key: "a", payload: "" }, { minDelay: 20 });
    await bench.pass(30);
    const { failingItems: [a], delayed } = await bench.engine.snapshot(10);
    assertEquals([a!.key, a!.dueInMs, delayed], ["a", undefined, 0]);
  },
);

engineTest("forgotten failures are not shown", async (bench) => {
  const limiter = limiters.describe({ type: "exponential", baseDelay: 1, maxDelay: 1 });
  bench.engine.limiter = planLimiter("test", limiter, { forgetAfter: 3000 });
  await fail(bench, "a", 2);
  assertEquals(await failing(bench), [["a", 2]]);
  await bench.pass(7000); // the delay of the queue lasts for 5 s
  assertEquals(await failing(bench), [["a", 2]]);
  await bench.pass(2000);
  assertEquals(await failing(bench), []);
});

engineTest("a failure without an error is shown without an error", async (bench) => {
  await addRateLimited(bench.engine, { key: "a", payload: "" });
  assertEquals((await bench.engine.snapshot(1)).failingItems[0]!.error, "");
});

/** Makes many keys fail once. The keys are then delayed for ten minutes. */
async function failAll(bench: Bench, keys: readonly string[]): Promise<void> {
  for (let i = 0; i < keys.length; i += 500) {
    const some = keys.slice(i, i + 500);
    await bench.add(...some);
    const { taken } = await bench.take("o", 500);
    const finishes = taken.map(({ key, token }) =>
      ({ key, token, kind: "retry", delay: 600_000, reason: "503" }) as const
    );
    await bench.turn("o", finishes);
  }
}

engineTest(
  "of many failing items, those with the most attempts are shown, and the same ones each time",
  async (bench) => {
    await fail(bench, "poison", 20); // due before all other keys
    await fail(bench, "bad", 3);
    await failAll(bench, Array.from({ length: 3000 }, (_, i) => `${i}`));
    const found = await failing(bench, 50);
    assertEquals([found.length, found[0], found[1]], [50, ["poison", 20], ["bad", 3]]);
    for (let i = 0; i < 20; i++) assertEquals(await failing(bench, 50), found);
    assertEquals(await failing(bench, 1), [["poison", 20]]);
    const { failing: count, failingItems } = await bench.engine.snapshot(1000);
    assertEquals([count, failingItems.length, new Set(failingItems.map(({ key }) => key)).size], [
      3002,
      1000,
      1000,
    ]);
    await bench.engine.forget("poison");
    assertEquals((await failing(bench, 50))[0], ["bad", 3]);
  },
);

engineTest("many items that are not retried do not hide one that is", async (bench) => {
  await fail(bench, "a");
  for (let i = 0; i < 250; i++) await fail(bench, `cancelled ${i}`, 2);
  for (let i = 0; i < 250; i++) await bench.engine.cancelDelayed(`cancelled ${i}`);
  assertEquals(await failing(bench, 1), [["a", 1]]);
});

/** Returns the numbers of stored errors and of stored failing keys. The failure counts are stored separately. */
async function beside(bench: Bench): Promise<[errors: unknown, failing: unknown]> {
  return [await bench.stored("HLEN", "errors"), await bench.stored("ZCARD", "failing")];
}

engineTest("all information about failures is removed with them", async (bench) => {
  const keys = ["forgotten", "succeeded", "given up", "stays"];
  for (const key of keys) await fail(bench, key);
  assertEquals(await beside(bench), [4, 4]);
  for (const kind of ["succeeded", "givenUp"] as const) {
    const key = kind === "succeeded" ? "succeeded" : "given up";
    await bench.engine.promoteDelayed(key);
    await bench.finish(key, (await bench.take("o")).taken[0]!.token, kind);
  }
  await bench.engine.forget("forgotten");
  assertEquals(await beside(bench), [1, 1]);
});

engineTest("totals count handed-out, failed and given-up items once", async (bench) => {
  await bench.add("a", "b", "c", "d");
  const { taken: [a, b, c, d] } = await bench.take("o", 4);
  const common = { key: a!.key, token: a!.token };
  await bench.turn("o", [{ ...common, kind: "retry", reason: "bad" }]);
  await bench.turn("o", [{ key: "b", token: b!.token, kind: "retry" }]); // a requested retry is not a failure
  await bench.turn("o", [{ key: "c", token: c!.token, kind: "givenUp", reason: "no", why: "maxRetries" }]);
  await bench.turn("o", [{ key: "d", token: d!.token, kind: "handedBack" }]);
  bench.isResent = true;
  await bench.turn("o", [{ ...common, kind: "retry", reason: "bad" }]);
  const { totals } = await bench.engine.snapshot(0);
  assertEquals(totals, { handedOut: 4, failed: 2, givenUp: 1, givenUpFor: { ...NONE, maxRetries: 1 } });
});

engineTest("totals count each hand-out of an item whose holders are lost, and that it is given up", async (bench) => {
  await bench.add("a");
  for (let i = 0; i < 3; i++) {
    await bench.take(`gone ${i}`);
    await bench.pass(LEASE + 1);
  }
  await bench.take("other");
  const { totals, ready } = await bench.engine.snapshot(0);
  assertEquals([totals, ready], [
    { handedOut: 3, failed: 0, givenUp: 1, givenUpFor: { ...NONE, stalled: 1 } },
    0,
  ]);
}, { maxStalls: 2 });

redisTest("snapshot: a process sees what another one's pool is doing", async ({ url }) => {
  const name = uniqueName("snapshot");
  interface Page {
    path: string;
  }
  const open = () =>
    createRedisQueue<Page>({
      ...{ name, url, keyOf: ({ path }) => path, onQueueError: () => {} },
      limiter: { type: "exponential", baseDelay: "1m", maxDelay: "1h" },
    });
  await using other = open();
  {
    await using queue = open();
    const pool = runWorkers(queue, ({ path }) => {
      if (path === "/bad") throw new Error("no\nsuch page");
      if (path === "/hopeless") throw new TerminalError("never");
    }, { onError() {} });
    await queue.addAll(["/", "/bad", "/hopeless"].map((path) => ({ path })));
    while ((await queue.counts()).delayed < 1 || (await queue.counts()).processing > 0);
    await pool.stop();
  }
  await other.add({ path: "/next" });
  await other.pause();
  const snapshot = await other.snapshot();
  const { name: _, processingItems, delayedItems: [delayed], failingItems: [failing], oldestReadyMs, ...rest } =
    snapshot;
  assert(failing!.dueInMs! > 50_000 && failing!.dueInMs! <= 60_000);
  assert(oldestReadyMs >= 0 && oldestReadyMs < 60_000);
  assertEquals([delayed!.item, processingItems], [{ path: "/bad" }, []]);
  assertEquals({ ...failing, dueInMs: 0 }, {
    ...{ item: { path: "/bad" }, attempts: 1, error: "Error: no such page", dueInMs: 0 },
  });
  assertEquals(rest, {
    ...{ ready: 1, blocked: 0, delayed: 1, processing: 0, paused: true, failing: 1, givenUp: 1 },
    readyItems: [{ item: { path: "/next" }, priority: 0 }],
    totals: { added: 4, handedOut: 3, failed: 2, givenUp: 1, givenUpFor: { ...NONE, terminal: 1 } },
  } as never);
  assertEquals(JSON.parse(JSON.stringify(snapshot)), snapshot);
  await assertRejects(
    () => other.snapshot({ limit: 1001 }),
    RangeError,
    "Cannot make snapshot: 'limit' must be an integer",
  );
  await assertRejects(() => other.snapshot({ limt: 1 } as never), TypeError, 'did you mean "limit"?');
});

redisTest("snapshot: its fields are those of a queue in memory, plus counts", async ({ url }) => {
  await using queue = createRedisQueue({ name: uniqueName("snapshot"), url });
  await queue.add("a");
  await queue.pause();
  assertEquals(await countsOf(queue), { ready: 1, blocked: 0, delayed: 0, processing: 0, failing: 0, givenUp: 0 });
  const inMemory = Object.keys(createWorkQueue().snapshot());
  const counts = Object.keys(await queue.counts());
  const fields = new Set([...inMemory, ...counts, "failingItems", "paused", "totals"]);
  assertEquals(new Set(Object.keys(await queue.snapshot())), fields);
});
