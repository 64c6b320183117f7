/** Tests of the keys that a queue leaves on the server when it is empty and its processes have ended. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { createGivenUpStore, createRetryBudget, loadConfig, runWorkers, TerminalError } from "@workqueue/core";
import { createRedisQueue, type RedisQueue, redisQueues } from "@workqueue/redis";
import { open, QUICK, take, until } from "./faults/faults.ts";
import { redisTest, type SharedServer, uniqueName } from "./redis_tests.ts";

const DAY = 86_400;

/** Returns the seconds after which each key of a queue expires; -1 if it doesn't. Names begin after the last colon. */
async function endsOf({ call }: SharedServer, name: string): Promise<Record<string, number>> {
  const keys = [...await call("KEYS", `workqueue:{${name}*`) as string[]].toSorted();
  const ends = keys.map(async (key) => {
    const short = key.replace(/^.*\}:/, "").replace(/order:\d+/, "order");
    return [short, Number(await call("TTL", key))] as const;
  });
  return Object.fromEntries(await Promise.all(ends));
}

/** Asserts that these keys are left, and expire after `seconds`. */
async function assertEnds(server: SharedServer, name: string, keys: string[], seconds = 30 * DAY): Promise<void> {
  const ends = await endsOf(server, name);
  assertEquals(Object.keys(ends), keys);
  for (const [key, end] of Object.entries(ends)) assert(end > 0 && end <= seconds, `${key} expires after ${end} s`);
}

const done = async (queue: RedisQueue, ...items: string[]) => {
  for (const item of items) {
    await queue.add(item);
    await (await take(queue)).finish();
  }
};

redisTest("forgotten: the metadata of a drained queue expires after 30 days", async (server) => {
  const name = uniqueName("forgotten");
  const queue = createRedisQueue({ name, url: server.url });
  const pool = runWorkers(queue, () => {});
  await queue.addAll(["a", "b"]);
  await queue.whenIdle();
  await queue.shutDownWithDrain();
  await pool.finished;
  await assertEnds(server, name, ["meta"]);
});

redisTest("forgotten: every key left behind by any feature expires", async (server) => {
  const name = uniqueName("forgotten");
  const options = {
    discipline: { type: "fair", separator: "/", maxPerGroup: 2, weights: { a: 2 }, by: "time" },
    retryBudget: createRetryBudget({ ratio: 1, minRate: 1 }),
    limiter: { type: "max-of", limiters: [QUICK, { type: "bucket", rate: 1, burst: 5 }] },
    keepGivenUp: createGivenUpStore({ max: 1 }),
    leaseDuration: 100,
    addWhileDelayed: "fold",
  } as const;
  {
    await using opened = open(server.url, name, options as never);
    opened.history.ignore();
    const { queue } = opened;
    await done(queue, "a/1", "b/1");
    await queue.add("a/2", { priority: 3, trace: `00-${"1".repeat(32)}-${"2".repeat(16)}-01` });
    await (await take(queue)).finish({ requeue: true });
    await (await take(queue)).finish();
    await queue.addRateLimited("b/2");
    await (await take(queue))[Symbol.asyncDispose](); // keeps its failures
    await queue.add("b/3");
    await (await take(queue)).finish({ giveUp: new TerminalError("bad") });
    await queue.discard();
    // Left by faults.
    for (const left of ["lost", "gaps"]) await server.call("ZADD", `workqueue:{${name}}:${left}`, "1", "1");
  }
  const ends = await endsOf(server, name);
  assert(Object.keys(ends).length > 8, Object.keys(ends).join(", "));
  for (const [key, end] of Object.entries(ends)) assert(end > 0 && end <= 30 * DAY, `${key} expires after ${end} s`);
});

redisTest("forgotten: no key expires while the queue has items of any kind or is paused", async (server) => {
  const fair = { type: "fair", separator: "/" } as const;
  const KEEPS: Record<string, (queue: RedisQueue) => Promise<unknown>> = {
    "a ready item": (queue) => queue.add("a/1"),
    "a delayed item": (queue) => queue.addAfter("a/1", "2h"),
    "a failed item": (queue) => queue.addRateLimited("a/1", { minDelay: "2h" }),
    "a given-up item": async (queue) => {
      await queue.add("a/1");
      await (await take(queue)).finish({ giveUp: new TerminalError("bad") });
    },
    "a pause": (queue) => queue.pause(),
    "a pause of a group": (queue) => queue.pauseGroup("a", "2h"),
  };
  for (const [what, keep] of Object.entries(KEEPS)) {
    const name = uniqueName("forgotten");
    await using opened = open(server.url, name, { discipline: fair });
    opened.history.ignore();
    await done(opened.queue, "b/1");
    await opened.queue.counts();
    assert((await endsOf(server, name))["meta"]! > 0, "it is empty");
    await keep(opened.queue);
    await opened.queue.counts();
    const ends = Object.entries(await endsOf(server, name));
    assertEquals(ends.filter(([, end]) => end !== -1), [], what);
  }
});

redisTest("forgotten: idle workers keep the keys of their queue", async (server) => {
  const name = uniqueName("forgotten");
  await using opened = open(server.url, name, { forgetQueuesAfter: "20s", leaseDuration: "1s" });
  const pool = runWorkers(opened.queue, () => {});
  await done(opened.queue);
  const end = async () => (await endsOf(server, name))["meta"] ?? 0;
  await until(async () => await end() > 0);
  await server.call("EXPIRE", `workqueue:{${name}}:meta`, "10");
  await until(async () => await end() > 15);
  await pool.stop();
});

redisTest(
  "forgotten: a later process puts its definition in force, and reports no loss",
  async (server) => {
    const name = uniqueName("forgotten");
    const discipline = { type: "fair", separator: "/", maxPerGroup: 1 } as const;
    await using opened = open(server.url, name, { discipline, forgetQueuesAfter: "100ms" });
    opened.history.ignore();
    await opened.queue.counts();
    await until(async () => (await server.call("KEYS", `workqueue:{${name}*`) as string[]).length === 0);
    await opened.queue.addAll(["a/1", "a/2"]);
    const { ready, blocked } = await opened.queue.counts();
    assertEquals([ready, blocked, opened.errors], [1, 1, []]);
    assertEquals(await server.call("HGET", `workqueue:{${name}}:meta`, "expireAfter"), "100000");
    for (const _ of [1, 2]) await (await take(opened.queue)).finish();
  },
);

redisTest("forgotten: the time is stored, so it also applies to processes without the option", async (server) => {
  const name = uniqueName("forgotten");
  await using one = open(server.url, name, { forgetQueuesAfter: "1h" });
  await one.queue.counts();
  await using other = open(server.url, name);
  await other.queue.counts();
  await assertEnds(server, name, ["meta"], 3600);
});

redisTest("forgotten: the division and the partitions of an empty queue expire", async (server) => {
  const name = uniqueName("forgotten");
  const queue = createRedisQueue({ name, url: server.url, partitions: 3 });
  const pool = runWorkers(queue, () => {});
  await queue.addAll(["a", "b", "c", "d"]);
  await queue.whenIdle();
  await queue.shutDownWithDrain();
  await pool.finished;
  const keys = await server.call("KEYS", `workqueue:{${name}*`) as string[];
  assertEquals(keys.toSorted(), ["", "#0", "#1", "#2"].map((part) => `workqueue:{${name}${part}}:meta`).toSorted());
  for (const key of keys) assert(Number(await server.call("TTL", key)) > 0, key);
  await using opened = open(server.url, name, { partitions: 3 });
  await opened.queue.add("a");
  assertEquals(await server.call("TTL", `workqueue:{${name}}:meta`), -1);
  await (await take(opened.queue)).finish();
});

redisTest("forgotten: the keys of shared throttles expire, also if their processes were killed", async (server) => {
  const [api, calls, name] = [uniqueName("api"), uniqueName("calls"), uniqueName("forgotten")];
  const config = loadConfig({
    throttles: {
      [api]: { type: "concurrency", limit: 1 },
      [calls]: { type: "bucket", rate: 1, burst: 2 },
    },
    queues: { [name]: { throttle: { type: "all-of", throttles: [api, calls] }, concurrency: 3 } },
  } as never);
  const queue = redisQueues(config, { url: server.url, forgetQueuesAfter: "1h" }).queue(name);
  let end = () => {};
  const pool = config.runWorkers(name, queue, () => new Promise<void>((resolve) => end = resolve), { onError() {} });
  await queue.addAll(["a", "b"]);
  await until(() => pool.active === 1);
  for (const throttle of [api, calls]) {
    const ends = Object.entries(await endsOf(server, `throttle:${throttle}`));
    assert(ends.length > 0);
    for (const [key, seconds] of ends) assert(seconds > 0 && seconds <= 3600, `${throttle}: ${key}, ${seconds} s`);
  }
  await until(() => {
    end();
    return pool.active === 0;
  });
  await queue.shutDownWithDrain();
  await pool.finished;
});

Deno.test("forgotten: the time is a duration from 100 ms to ten years", () => {
  for (const forgetQueuesAfter of [99, "87601h", Infinity, -1]) {
    const error = assertThrows(() => createRedisQueue({ name: "q", forgetQueuesAfter }), RangeError);
    assert(error.message.includes("'forgetQueuesAfter' must be a duration"), error.message);
    const config = loadConfig({ queues: { q: {} } });
    assertThrows(() => redisQueues(config, { forgetQueuesAfter }), RangeError);
    assertThrows(() => redisQueues(config, {}).queue("q", { forgetQueuesAfter }), RangeError);
  }
  assertThrows(() => createRedisQueue({ name: "q", forgetQueuesAfter: {} as never }), TypeError);
});
