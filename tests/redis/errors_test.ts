/**
 * Tests of the error that the server keeps for each failing item: the item's last error, as a single line. The server
 * keeps it for as long as it keeps the item's failure count.
 */

import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { limiters, runWorkers, TerminalError } from "@workqueue/core";
import { createRedisQueue, type RedisLease, type RedisQueue, type RedisQueueOptions } from "@workqueue/redis";
import { planLimiter } from "../../packages/engine/limiter_plan.ts";
import { addRateLimited } from "../contracts/engine_bench.ts";
import { type Bench, engineTest } from "./bench.ts";
import { redisTest, uniqueName } from "./redis_tests.ts";

/** Runs a failing attempt for a key. */
async function fail(bench: Bench, key: string, reason: string): Promise<void> {
  await bench.engine.promoteDelayed(key);
  await bench.add(key);
  const { taken: [taken] } = await bench.take("o");
  await bench.turn("o", [{ key, token: taken!.token, kind: "retry", delay: 60_000, reason }]);
}

const errorOf = (bench: Bench, key: string) => bench.stored("HGET", "errors", key);

engineTest("the error of the last failure that had an error is kept", async (bench) => {
  await fail(bench, "a", "first");
  await fail(bench, "a", "second");
  assertEquals(await errorOf(bench, "a"), "second");
  await fail(bench, "a", "");
  await addRateLimited(bench.engine, { key: "a", payload: "" });
  assertEquals(await errorOf(bench, "a"), "second");
});

for (const kind of ["succeeded", "requeueAfter", "givenUp", "forget"] as const) {
  engineTest(`an error is dropped with the failures: ${kind}`, async (bench) => {
    await fail(bench, "a", "bad");
    await bench.engine.promoteDelayed("a");
    const { taken: [a] } = await bench.take("o");
    if (kind === "forget") await bench.engine.forget("a");
    else await bench.finish("a", a!.token, kind);
    assertEquals(await bench.stored("EXISTS", "errors"), 0);
  });
}

engineTest("a done or handed-back key that keeps its failures keeps its error", async (bench) => {
  for (const kind of ["done", "handedBack"] as const) {
    await fail(bench, "a", kind);
    await bench.engine.promoteDelayed("a");
    const { taken: [a] } = await bench.take("o");
    await bench.finish("a", a!.token, kind);
    assertEquals(await errorOf(bench, "a"), kind);
  }
});

engineTest("a second outcome of a lease stores no error", async (bench) => {
  await bench.add("a");
  const { taken: [a] } = await bench.take("o");
  await bench.finish("a", a!.token);
  const late = { key: "a", token: a!.token, kind: "retry", reason: "late" } as const;
  assertEquals((await bench.turn("o", [late])).answers, [false]);
  assertEquals(await bench.stored("EXISTS", "errors"), 0);
});

engineTest("forgotten failures take their errors with them, also for keys that are not retried", async (bench) => {
  const limiter = limiters.describe({ type: "exponential", baseDelay: 1, maxDelay: 1 });
  bench.engine.limiter = planLimiter("test", limiter, { forgetAfter: 1000 });
  for (let round = 0; round < 5; round++) {
    for (let i = 0; i < 40; i++) await fail(bench, `${round}-${i}`, "bad");
    const [failures, errors] = [await bench.stored("HLEN", "failures"), await bench.stored("HLEN", "errors")];
    assertEquals([errors, await bench.stored("ZCARD", "failing")], [failures, failures]);
    assert(Number(errors) <= 120, `${errors} are kept`);
    for (let i = 0; i < 40; i++) await bench.engine.cancelDelayed(`${round}-${i}`);
    await bench.pass(100_000);
  }
});

engineTest("a failure without an error doesn't get the error of forgotten failures", async (bench) => {
  const limiter = limiters.describe({ type: "exponential", baseDelay: 1, maxDelay: 1 });
  bench.engine.limiter = planLimiter("test", limiter, { forgetAfter: 1000 });
  await fail(bench, "a", "long ago");
  await bench.pass(100_000);
  await addRateLimited(bench.engine, { key: "a", payload: "" });
  assertEquals(await errorOf(bench, "a"), null);
});

engineTest("errors left behind by processes of an older release are bounded", async (bench) => {
  for (let round = 0; round < 6; round++) {
    for (let i = 0; i < 30; i++) await fail(bench, `${round}-${i}`, "bad");
    const keys = Array.from({ length: 30 }, (_, i) => `${round}-${i}`);
    assertEquals(await bench.stored("HMGET", "errors", ...keys), keys.map(() => "bad"), "those that fail stay");
    // The older release deletes the failure counts but not the errors.
    for (let i = 0; i < 30; i++) await bench.stored("HDEL", "failures", `${round}-${i}`);
    for (let i = 0; i < 30; i++) await bench.engine.cancelDelayed(`${round}-${i}`);
  }
  const errors = Number(await bench.stored("HLEN", "errors"));
  assert(errors <= 90, `${errors} of 180 are kept`);
  assertEquals(await bench.stored("ZCARD", "failing"), errors);
  await bench.stored("HSET", "errors", "left", "behind");
  await fail(bench, "left", "");
  assertEquals(await errorOf(bench, "left"), null);
});

function redisQueueTest(
  name: string,
  run: (
    open: (options?: Partial<RedisQueueOptions>) => RedisQueue,
    key: (name: string) => Promise<unknown>,
  ) => Promise<void>,
): void {
  redisTest(`errors: ${name}`, async ({ url, call }) => {
    const name = uniqueName("errors");
    const limiter = { type: "exponential", baseDelay: "1m", maxDelay: "1h" } as const;
    await run(
      (options) => createRedisQueue({ name, url, limiter, onQueueError: () => {}, ...options }),
      (key) => call("HGETALL", `workqueue:{${name}}:${key}`),
    );
  });
}

redisQueueTest(
  "a pool records its handlers' errors, and none for items that ask for another attempt",
  async (open, stored) => {
    await using queue = open();
    const pool = runWorkers(queue, (item) => {
      if (item === "again") return { requeue: true };
      if (item === "hopeless") throw new TerminalError("never");
      throw new Error(`no ${item}\n    at all`);
    }, { onError() {} });
    await queue.addAll(["a", "again", "hopeless"]);
    while ((await queue.counts()).delayed < 2);
    assertEquals(await stored("errors"), ["a", "Error: no a     at all"]);
    await pool.stop();
  },
);

redisQueueTest("a process that can't read an item records that as the error", async (open, stored) => {
  await using other = open();
  await other.add("a");
  await using queue = open({ keyOf: (item) => item });
  queue.get();
  while ((await other.counts()).delayed < 1);
  const [key, error] = await stored("errors") as string[];
  assertEquals(key, "a");
  assertStringIncludes(error!, "it was added by a process without 'keyOf'");
});

redisQueueTest("a lease that is finished by hand keeps or drops the pool's earlier error", async (open, stored) => {
  await using queue = open();
  const pool = runWorkers(queue, () => Promise.reject(new Error("bad")), { onError() {} });
  await queue.add("a");
  while ((await queue.counts()).delayed < 1);
  await pool.stop();
  await queue.promoteDelayed("a");
  await (await queue.get() as RedisLease).finish({ requeue: true });
  assertEquals(await stored("errors"), ["a", "Error: bad"]);
  await queue.promoteDelayed("a");
  await (await queue.get() as RedisLease).finish();
  assertEquals(await stored("errors"), []);
});
