/** Tests of the engine on Redis: those of every engine, and those that look at what the server stores. */

import { assert, assertEquals } from "@std/assert";
import process from "node:process";
import { engineAgesSuite } from "../contracts/engine_ages_suite.ts";
import { engineCopiesSuite } from "../contracts/engine_copies_suite.ts";
import { engineGivenUpSuite } from "../contracts/engine_given_up_suite.ts";
import { engineOrdersSuite } from "../contracts/engine_orders_suite.ts";
import { engineRetryBudgetSuite } from "../contracts/engine_retry_budget_suite.ts";
import { engineSuite } from "../contracts/engine_suite.ts";
import { engineWaitsSuite } from "../contracts/engine_waits_suite.ts";
import { unknownPartsSuite } from "../contracts/unknown_parts_suite.ts";
import { REDIS } from "../../packages/redis/interpreter.ts";
import { addRateLimited } from "../contracts/engine_bench.ts";
import { type Bench, checkRedisOwners, engineTest, keysOf, LEASE } from "./bench.ts";
import { redisTest } from "./redis_tests.ts";

const given = process.env["WORKQUEUE_RUNS"];
const RUNS = Number(given ?? 400);

engineSuite(engineTest);
unknownPartsSuite(REDIS, engineTest);
engineOrdersSuite(engineTest);
engineGivenUpSuite(engineTest);
engineCopiesSuite(engineTest);
engineRetryBudgetSuite(engineTest);
engineAgesSuite(engineTest);
engineWaitsSuite(engineTest);

/** Makes the only owner with leases lose all of them, so that no owner has a lease. */
async function lose(bench: Bench): Promise<void> {
  await bench.pass(LEASE + 1);
  await bench.take("reaper");
  await bench.engine.release("reaper", []);
}

engineTest(
  "if a server's clock goes back a little, the queue's time stands still, and displayed times have no offset",
  async (bench) => {
    await bench.addAfter(1000, "a");
    bench.jump(-90);
    await bench.pass(1000);
    assertEquals((await bench.engine.counts()).delayed, 1);
    await bench.pass(91);
    assertEquals((await bench.engine.counts()).delayed, 0);
    bench.jump(-3_600_000);
    await bench.engine.pause();
    const pausedAt = Number(await bench.stored("HGET", "meta", "paused"));
    assert(Math.abs(pausedAt - bench.time) < 100, "by the server's clock of now");
  },
);

for (const how of ["leaves", "is lost"]) {
  engineTest(`a retry that comes during an attempt leaves nothing behind if the holder ${how}`, async (bench) => {
    const engine = bench.open({ retriesFirst: true });
    await bench.add("a");
    await bench.take("gone", 1, 0, engine);
    await addRateLimited(engine, { key: "a", payload: "" });
    await bench.pass(11);
    assertEquals((await engine.counts()).delayed, 0);
    if (how === "leaves") await engine.leave("process of gone", "gone");
    else await bench.pass(LEASE + 1);
    const { taken: [a] } = await bench.take("o", 1, 0, engine);
    assertEquals(await bench.finish("a", a!.token), true);
    assertEquals(await bench.stored("EXISTS", "retries"), 0);
  });
}

engineTest("items due at the same microsecond come in the order of the adds, whatever their names", async (bench) => {
  // The queue's time advances by one microsecond each time it is read and each time a key is added.
  for (const [i, key] of ["d", "b", "c", "a"].entries()) await bench.addAfter(10 - i * 0.002, key);
  const { delayedItems } = await bench.engine.snapshot(10);
  assertEquals(new Set(delayedItems.map(({ dueInMs }) => dueInMs)).size, 4, "each has a time of its own");
  await bench.pass(11);
  assertEquals(keysOf(await bench.take("o", 4)), ["d", "b", "c", "a"]);
});

engineTest("an outcome that is sent again gets the first reply, unless the lease was lost", async (bench) => {
  await bench.add("a", "b");
  const { taken: [a, b] } = await bench.take("o", 2);
  assertEquals(await bench.finish("a", a!.token, "retry"), true);
  bench.isResent = true;
  assertEquals(await bench.finish("a", a!.token, "retry"), true);
  assertEquals(await bench.engine.numRequeues("a"), 1, "it is counted once");
  await lose(bench);
  assertEquals(await bench.finish("b", b!.token), false);
});

engineTest(
  "a process that takes items gets payloads once the queue has some, and the queue stores this fact",
  async (bench) => {
    const payloads = () => bench.stored("HGET", "meta", "payloads");
    const take = async () => (await bench.take("o", 5)).taken.map(({ key, payload }) => [key, payload]);
    await bench.add("a");
    await addRateLimited(bench.engine, { key: "b", payload: "" });
    await bench.pass(11);
    assertEquals([await payloads(), await take()], [null, [["a", undefined], ["b", undefined]]]);
    const other = bench.open({ hasItems: true });
    for (
      const add of [
        () => other.add([{ key: "c", payload: "{}" }]),
        () => addRateLimited(other, { key: "d", payload: "[]" }),
      ]
    ) {
      await bench.stored("HDEL", "meta", "payloads");
      await add();
      assertEquals(await payloads(), "1");
    }
    await bench.add("e");
    await bench.pass(11);
    assertEquals(await take(), [["c", "{}"], ["e", undefined], ["d", "[]"]]);
  },
);

engineTest("every outcome except an early return resets the stalls of a key", async (bench) => {
  for (const kind of ["done", "succeeded", "retry", "requeueAfter", "givenUp"] as const) {
    await bench.add("a");
    await bench.take("gone");
    await lose(bench);
    assertEquals(await bench.stored("HGET", "stalls", "a"), "1");
    const { taken: [a] } = await bench.take("o");
    assertEquals(await bench.finish("a", a!.token, kind), true);
    assertEquals(await bench.stored("HGET", "stalls", "a"), kind === "givenUp" ? "x0" : null);
    await bench.engine.cancelDelayed("a");
  }
});

redisTest(
  "engine: whatever owners do, no key has two owners or is lost, and finished keys no longer count",
  ({ url }) => checkRedisOwners(url, { runs: RUNS, seed: given === undefined ? 0 : Math.floor(Math.random() * 1e6) }),
);

engineTest(
  "an owner that is told of adds leaves nothing behind, also if it took its first key while the order changed",
  async (bench) => {
    await bench.add(...Array.from({ length: 250 }, (_, i) => `key ${i}`));
    const engine = bench.order({ type: "priority", maxHeadStart: "1m" });
    await engine.add([{ key: "last", payload: "" }]); // moves the first 200 keys
    const { taken: [first] } = await bench.take("o", 1, 0, engine, true);
    await bench.add(first!.key);
    assertEquals((await engine.renew("o", true))!.addedAgain, [first!.token]);
    await engine.leave("process of o", "o");
    for (const name of ["telling", "added:o"]) assertEquals(await bench.stored("EXISTS", name), 0, name);
  },
);

engineTest("a server that loses only meta still knows which running keys were cancelled", async (bench) => {
  await bench.add("a");
  const { taken: [a] } = await bench.take("o");
  await bench.engine.cancel("a", "enough");
  await bench.stored("DEL", "meta");
  assertEquals((await bench.engine.renew("o"))!.cancelled, [{ token: a!.token, reason: "enough" }]);
  assertEquals(await bench.finish("a", a!.token, "retry"), "cancelled");
});

engineTest("dropped given-up keys and forgotten failures leave nothing behind", async (bench) => {
  await bench.engine.keepGivenUp({ max: 1, maxAge: undefined });
  await bench.add("a", "b", "c");
  const { taken } = await bench.take("o", 3);
  const end = { kind: "givenUp", why: "terminal", reason: "no" } as const;
  await bench.turn("o", taken.map(({ key, token }) => ({ key, token, ...end })));
  for (const name of ["stalls", "reasons"]) assertEquals(await bench.stored("HKEYS", name), ["c"], name);
  await addRateLimited(bench.engine, { key: "d", payload: "" });
  assertEquals(await bench.stored("HKEYS", "failingsince"), ["d"]);
  await bench.engine.forget("d");
  assertEquals(await bench.stored("EXISTS", "failingsince"), 0);
});

engineTest("retries that are done, canceled, promoted or replaced leave nothing behind", async (bench) => {
  const engine = bench.open({ replaces: true, retryBudget: { ratio: 0, minRate: 1_000_000 } });
  const keys = ["canceled", "promoted", "replaced", "due", "due while processing"];
  const retry = async (...keys: string[]) => {
    for (const key of keys) await addRateLimited(engine, { key, payload: "" });
  };
  await engine.add([{ key: keys.at(-1)!, payload: "" }]);
  const { taken: [processing] } = await bench.take("o", 1, 0, engine);
  await retry(...keys);
  assertEquals(await bench.stored("HLEN", "dueretries"), keys.length);
  await engine.cancelDelayed("canceled");
  await engine.promoteDelayed("promoted");
  await engine.add([{ key: "replaced", payload: "" }]);
  await bench.pass(20);
  await bench.finish(processing!.key, processing!.token, "succeeded", engine);
  const { taken } = await bench.take("o", 9, 0, engine);
  assertEquals(taken.map(({ key }) => key).sort(), ["due", "due while processing", "promoted", "replaced"]);
  for (const { key, token } of taken) await bench.finish(key, token, "succeeded", engine);
  for (const name of ["retries", "dueretries", "blockedretries", "deposits"]) {
    assertEquals(await bench.stored("EXISTS", name), 0, name);
  }
});

engineTest("a redrive wakes an idle process at once", async (bench) => {
  await bench.add("a", "b");
  const { taken } = await bench.take("o", 2);
  const end = { kind: "givenUp", why: "terminal", reason: "no" } as const;
  await bench.turn("o", taken.map(({ key, token }) => ({ key, token, ...end })), 1);
  assertEquals(await bench.stored("ZCARD", "idle"), 1);
  await bench.engine.redrive({ search: "", keys: undefined }, 1);
  assertEquals(await bench.stored("ZCARD", "idle"), 0, "it is taken for gone, as it doesn't listen");
});
