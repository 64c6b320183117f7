/** What the server tells of a queue in one call: what is in it, how it is, and what fails. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { limiters, runWorkers, TerminalError } from "@workqueue/core";
import { createRedisQueue } from "@workqueue/redis";
import { planLimiter } from "../../packages/redis/limiter_plan.ts";
import { type Bench, engineTest, LEASE } from "./bench.ts";
import { redisTest, uniqueName } from "./redis_tests.ts";

/** Lets a key fail so many times; then it waits for some seconds. */
async function fail(bench: Bench, key: string, times = 1): Promise<void> {
  for (let i = 0; i < times; i++) {
    if (!await bench.engine.retryNow(key)) await bench.add(key);
    const { taken: [taken] } = await bench.take("o");
    const reason = `${key}, for the ${i + 1}th time`;
    await bench.turn("o", [{ key, token: taken!.token, kind: "retry", delay: 5000, reason }]);
  }
}

async function failing(bench: Bench, limit = 10): Promise<[key: string, attempts: number][]> {
  const { failingEntries } = await bench.engine.details(limit);
  return failingEntries.map(({ key, attempts }) => [key, attempts]);
}

engineTest("details tell what snapshot, stats and measure tell", async (bench) => {
  for (let i = 0; i < 300; i++) await bench.addAfter(10, `due ${i}`);
  await bench.add("held", "ready");
  await bench.take("o");
  await fail(bench, "a", 2);
  await bench.pass(2000);
  for (let i = 0; i < 2; i++) {
    const contents = await bench.engine.contents(20);
    const { isPaused: _, totals: _t, failingEntries: _f, failing, givenUp, oldestReady, ...rest } = await bench.engine
      .details(20);
    const { waiting, ...counts } = await bench.engine.stats();
    assertEquals({ ...rest, waitingEntries: [] }, { ...contents, waitingEntries: [] });
    assertEquals([rest.waitingEntries.length, waiting], [1, 1]);
    assertEquals({ ready: rest.ready, held: rest.held, failing, givenUp }, counts);
    const { oldestReady: expected } = await bench.engine.measure();
    assert(Math.abs(oldestReady - expected) < 1 && oldestReady > 1000, `${oldestReady}, ${expected}`);
  }
});

engineTest("details of an empty queue", async (bench) => {
  assertEquals(await bench.engine.details(10), {
    ...{ ready: 0, waiting: 0, held: 0, readyEntries: [], waitingEntries: [], heldEntries: [] },
    ...{ isPaused: false, failing: 0, givenUp: 0, oldestReady: 0, failingEntries: [] },
    totals: { handedOut: 0, failed: 0, givenUp: 0 },
  });
});

engineTest("details tell whether a queue is paused", async (bench) => {
  await bench.engine.pause();
  assertEquals((await bench.engine.details(0)).isPaused, true);
  await bench.engine.resume();
  assertEquals((await bench.engine.details(0)).isPaused, false);
});

engineTest("what fails is told with its last error, the most attempts first", async (bench) => {
  for (const [key, times] of [["b", 1], ["a", 1], ["c", 3]] as const) await fail(bench, key, times);
  const { failingEntries: [c, a, b] } = await bench.engine.details(10);
  assert(c!.dueIn! > 4990 && c!.dueIn! < 5000, `${c!.dueIn}`);
  assertEquals({ ...c, dueIn: 5000 }, {
    ...{ key: "c", payload: "of c", attempts: 3, error: "c, for the 3th time", dueIn: 5000 },
  });
  assertEquals([a!.key, b!.key], ["a", "b"]);
  assertEquals(await failing(bench, 2), [["c", 3], ["a", 1]]);
  assertEquals(await failing(bench, 0), []);
}, { hasItems: true });

engineTest(
  "what fails and does not wait is told without a time, for as long as it will be tried again",
  async (bench) => {
    for (const key of ["ready", "held", "cancelled", "done", "due"]) await fail(bench, key);
    await bench.engine.retryNow("done");
    const { taken: [done] } = await bench.take("o");
    await bench.finish("done", done!.token, "done");
    await bench.engine.cancelAfter("cancelled");
    await bench.engine.retryNow("held");
    await bench.take("o");
    await bench.engine.retryNow("ready");
    const { failing, failingEntries } = await bench.engine.details(10);
    const dues = Object.fromEntries(failingEntries.map(({ key, dueIn }) => [key, dueIn !== undefined]));
    assertEquals([failing, dues], [5, { due: true, held: false, ready: false }]);
  },
);

engineTest("what fails and is due is told without a time, also if more is due than a call moves", async (bench) => {
  await bench.addAfter(10, ...Array.from({ length: 300 }, (_, i) => `${i}`));
  await bench.engine.addRateLimited({ key: "a", payload: "" }, true, "", 20);
  await bench.pass(30);
  const { failingEntries: [a], waiting } = await bench.engine.details(10);
  assertEquals([a!.key, a!.dueIn, waiting], ["a", undefined, 0]);
});

engineTest("failures that are over are not told", async (bench) => {
  const limiter = limiters.describe({ type: "exponential", baseDelay: 1, maxDelay: 1, forgetAfter: "3s" });
  bench.engine.limiter = planLimiter("test", limiter);
  await fail(bench, "a", 2);
  assertEquals(await failing(bench), [["a", 2]]);
  await bench.pass(4000);
  assertEquals(await failing(bench), []);
});

engineTest("a failure without an error has none", async (bench) => {
  await bench.engine.addRateLimited({ key: "a", payload: "" }, true, "", 0);
  assertEquals((await bench.engine.details(1)).failingEntries[0]!.error, "");
});

/** Lets many keys fail once; they wait for a while. */
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

engineTest("of many that fail, those with the most attempts are told, and the same each time", async (bench) => {
  await fail(bench, "poison", 20); // it is due before all others
  await fail(bench, "bad", 3);
  await failAll(bench, Array.from({ length: 3000 }, (_, i) => `${i}`));
  const found = await failing(bench, 50);
  assertEquals([found.length, found[0], found[1]], [50, ["poison", 20], ["bad", 3]]);
  for (let i = 0; i < 20; i++) assertEquals(await failing(bench, 50), found);
  assertEquals(await failing(bench, 1), [["poison", 20]]);
  const { failing: count, failingEntries } = await bench.engine.details(1000);
  assertEquals([count, failingEntries.length, new Set(failingEntries.map(({ key }) => key)).size], [3002, 1000, 1000]);
  await bench.engine.forget("poison");
  assertEquals((await failing(bench, 50))[0], ["bad", 3]);
});

engineTest("many that are not tried again hide none that is", async (bench) => {
  await fail(bench, "a");
  for (let i = 0; i < 250; i++) await fail(bench, `cancelled ${i}`, 2);
  for (let i = 0; i < 250; i++) await bench.engine.cancelAfter(`cancelled ${i}`);
  assertEquals(await failing(bench, 1), [["a", 1]]);
});

/** What is known of keys that fail beside their failures. */
async function beside(bench: Bench): Promise<[errors: unknown, failing: unknown]> {
  return [await bench.stored("HLEN", "errors"), await bench.stored("ZCARD", "failing")];
}

engineTest("what is known of failures goes with them", async (bench) => {
  const keys = ["forgotten", "succeeded", "given up", "stays"];
  for (const key of keys) await fail(bench, key);
  assertEquals(await beside(bench), [4, 4]);
  for (const kind of ["succeeded", "givenUp"] as const) {
    const key = kind === "succeeded" ? "succeeded" : "given up";
    await bench.engine.retryNow(key);
    await bench.finish(key, (await bench.take("o")).taken[0]!.token, kind);
  }
  await bench.engine.forget("forgotten");
  assertEquals(await beside(bench), [1, 1]);
});

engineTest("processes of an older release count and forget failures alone, which does no harm", async (bench) => {
  for (const key of ["a", "b", "c"]) await fail(bench, key);
  await bench.stored("HDEL", "failures", "a"); // forgets
  await bench.stored("HSET", "failures", "b", "7"); // counts
  await bench.addAfter(5000, "d");
  await bench.stored("HSET", "failures", "d", "2");
  assertEquals(await failing(bench), [["b", 7], ["c", 1]]);
  assertEquals(await bench.stored("ZCARD", "failing"), 2);
  await fail(bench, "d");
  assertEquals(await failing(bench), [["d", 3], ["b", 7], ["c", 1]], "by what is known of b");
  await fail(bench, "b");
  assertEquals(await failing(bench), [["b", 8], ["d", 3], ["c", 1]]);
});

engineTest("totals count what is handed out, has failed and was given up, once", async (bench) => {
  await bench.add("a", "b", "c", "d");
  const { taken: [a, b, c, d] } = await bench.take("o", 4);
  const common = { key: a!.key, token: a!.token };
  await bench.turn("o", [{ ...common, kind: "retry", reason: "bad" }]);
  await bench.turn("o", [{ key: "b", token: b!.token, kind: "retry" }]); // asked for
  await bench.turn("o", [{ key: "c", token: c!.token, kind: "givenUp", reason: "no" }]);
  await bench.turn("o", [{ key: "d", token: d!.token, kind: "handedBack" }]);
  bench.isResent = true;
  await bench.turn("o", [{ ...common, kind: "retry", reason: "bad" }]);
  assertEquals((await bench.engine.details(0)).totals, { handedOut: 4, failed: 2, givenUp: 1 });
});

engineTest("totals count what is given up as its holders were lost, and that it comes again", async (bench) => {
  await bench.add("a");
  for (let i = 0; i < 2; i++) {
    await bench.take(`gone ${i}`);
    await bench.pass(LEASE + 1);
  }
  await bench.take("other");
  const { totals, ready } = await bench.engine.details(0);
  assertEquals([totals, ready], [{ handedOut: 2, failed: 0, givenUp: 1 }, 0]);
}, { maxLapses: 2 });

redisTest("details: a process sees what another one's pool is at", async ({ url }) => {
  const name = uniqueName("details");
  interface Page {
    path: string;
  }
  const open = () =>
    createRedisQueue<Page>({
      ...{ name, url, keyOf: ({ path }) => path, onError: () => {} },
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
    while ((await queue.stats()).waiting < 1 || (await queue.stats()).held > 0);
    await pool.stop();
  }
  await other.add({ path: "/next" });
  await other.pause();
  const details = await other.details();
  const { name: _, heldItems, waitingItems: [waiting], failingItems: [failing], oldestReady, ...rest } = details;
  assert(failing!.dueIn! > 50_000 && failing!.dueIn! <= 60_000);
  assert(oldestReady >= 0 && oldestReady < 60_000);
  assertEquals([waiting!.item, heldItems], [{ path: "/bad" }, []]);
  assertEquals({ ...failing, dueIn: 0 }, {
    ...{ item: { path: "/bad" }, attempts: 1, error: "Error: no such page", dueIn: 0 },
  });
  assertEquals(rest, {
    ...{ length: 1, heldBack: 0, waiting: 1, held: 0, paused: true, failing: 1, givenUp: 1 },
    readyItems: [{ item: { path: "/next" }, priority: 0 }],
    totals: { added: 4, handedOut: 3, failed: 2, givenUp: 1 },
  } as never);
  assertEquals(JSON.parse(JSON.stringify(details)), details);
  await assertRejects(
    () => other.details({ limit: 1001 }),
    RangeError,
    "Cannot tell details as 'limit' must be an integer",
  );
  await assertRejects(() => other.details({ limt: 1 } as never), TypeError, 'did you mean "limit"?');
});

redisTest("details: snapshot and stats stay what they are", async ({ url }) => {
  await using queue = createRedisQueue({ name: uniqueName("details"), url });
  await queue.add("a");
  await queue.pause();
  assertEquals(await queue.stats(), { ready: 1, waiting: 0, held: 0, failing: 0, givenUp: 0 });
  assertEquals(Object.keys(await queue.snapshot()).toSorted(), [
    ...["held", "heldBack", "heldItems", "length", "name", "readyItems", "waiting", "waitingItems"],
  ]);
});
