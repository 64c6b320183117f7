/**
 * Tests of queues stored in another format. Such a queue stays unchanged, and every call fails with an error that
 * explains what to do.
 */

import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { RetryAfterError, runWorkers } from "@workqueue/core";
import { createRedisQueue, type RedisQueue } from "@workqueue/redis";
import { SCRIPTS } from "../../packages/redis/scripts/script.ts";
import { open, until } from "./faults/faults.ts";
import { redisTest, type SharedServer, uniqueName } from "./redis_tests.ts";
import { loadOlderRelease, openBoth } from "./releases/older_release.ts";
import { START, TimedServer } from "./timed_server.ts";

/** Queue in format 2 with a ready, a delayed, a processing and a given-up key. */
const FORMAT_2: readonly string[][] = [
  ["HSET", "meta", "format", "2", "last", "1800000000000000", "heard", "1800000000000000", "checked", "0"],
  ["ZADD", "ready", "1800000000000000", "ready"],
  ["ZADD", "waiting", "1800000000000001", "due"],
  ["HSET", "holders", "processing", "-1800000000000002:gone.0"],
  ["SADD", "held:gone.0", "processing"],
  ["SADD", "tried:gone.0", "processing"],
  ["ZADD", "owners", "1800000000000004", "gone.0"],
  ["HSET", "marks", "processing", "1", "given up", "x3"],
  ["ZADD", "givenup", "1800000000000000", "given up"],
  ["HSET", "failures", "due", "1"],
  ["ZADD", "idle", "1800000000000000", "process"],
];

/** Calls that together run every script. */
const CALLS: Readonly<Record<string, (queue: RedisQueue) => Promise<unknown>>> = {
  add: (queue) => queue.add("ready"),
  addAfter: (queue) => queue.addAfter("due", "1m"),
  addRateLimited: (queue) => queue.addRateLimited("due"),
  cancelDelayed: (queue) => queue.cancelDelayed("due"),
  promoteDelayed: (queue) => queue.promoteDelayed("due"),
  forget: (queue) => queue.forget("due"),
  numRequeues: (queue) => queue.numRequeues("due"),
  pause: (queue) => queue.pause(),
  resume: (queue) => queue.resume(),
  counts: (queue) => queue.counts(),
  snapshot: (queue) => queue.snapshot(),
  givenUp: (queue) => queue.givenUp(),
  discard: (queue) => queue.discard(),
  redriveProgress: (queue) => queue.redriveProgress(),
  stopRedrive: (queue) => queue.stopRedrive(),
};

/** Returns all stored data of a queue. */
async function stored(name: string, call: SharedServer["call"]): Promise<Record<string, unknown>> {
  const keys = await call("KEYS", `workqueue:{${name}}:*`) as string[];
  const values = keys.toSorted().map(async (key) => [key, JSON.stringify(await call("DUMP", key))]);
  return Object.fromEntries(await Promise.all(values));
}

/** Stores a queue in format 2. */
async function store(name: string, call: SharedServer["call"]): Promise<void> {
  for (const [command, key, ...rest] of FORMAT_2) await call(command!, `workqueue:{${name}}:${key}`, ...rest);
}

redisTest(
  "format: a queue of an older format is left as it is, and each call says what to do",
  async ({ url, call }) => {
    const name = uniqueName("format");
    await store(name, call);
    const before = await stored(name, call);
    assertEquals(Object.keys(before).length, FORMAT_2.length);
    const message =
      `WQFORMAT Cannot use queue ${name}: the server has it in format 2, and this release uses formats 3 and 4. ` +
      `Let the processes of the older release finish its items, then delete its keys (workqueue:{${name}}:*), ` +
      "or use another name";
    const opened = open(url, name);
    const { queue, errors } = opened;
    for (const [method, make] of Object.entries(CALLS)) await assertRejects(() => make(queue), Error, message, method);
    assertEquals(errors.map((error) => (error as Error).message), Object.keys(CALLS).map(() => message));
    errors.length = 0;
    const lease = queue.get(); // runs the script `turn` and, at the queue's next check, the script `release`
    await until(() => errors.length > 0);
    await opened[Symbol.asyncDispose](); // runs `leave`
    assert((await lease).shutdown);
    for (const error of errors) assertEquals((error as Error).message, message);
    assertEquals(await stored(name, call), before);
  },
);

redisTest("format: every script refuses another format before it does anything", async ({ call }) => {
  const name = uniqueName("format");
  await store(name, call);
  const before = await stored(name, call);
  for (const [script, { lua }] of Object.entries(SCRIPTS)) {
    const answer = await call("EVAL", lua("redis.call('TIME')"), "1", `workqueue:{${name}}:meta`).catch(String);
    assertMatch(String(answer), /WQFORMAT/, script);
  }
  assertEquals(await stored(name, call), before);
});

redisTest("format: a queue of a newer format is left to the newer release", async ({ url, call }) => {
  const name = uniqueName("format");
  await call("HSET", `workqueue:{${name}}:meta`, "format", "5");
  const queue = createRedisQueue({ name, url, onQueueError() {} });
  await assertRejects(() => queue.add("a"), Error, "uses formats 3 and 4. Use the release that stored it");
  await queue.shutDownWithDrain();
  assertEquals(await call("HGETALL", `workqueue:{${name}}:meta`), ["format", "5"]);
});

redisTest("format: once the old keys are deleted, the same process goes on", async ({ url, call }) => {
  const name = uniqueName("format");
  await store(name, call);
  await using opened = open(url, name);
  await assertRejects(() => opened.queue.add("a"), Error, "WQFORMAT");
  for (const key of Object.keys(await stored(name, call))) await call("UNLINK", key);
  await opened.queue.add("a");
  const lease = await opened.queue.get();
  assert(!lease.shutdown && await lease.finish());
  assertEquals(await call("HGET", `workqueue:{${name}}:meta`, "format"), "3");
});

redisTest("format: a queue keeps its format until it first has what older releases don't know", async ({
  url,
  call,
}) => {
  const first: Readonly<Record<string, (queue: RedisQueue, name: string) => Promise<unknown>>> = {
    discipline: (_, name) => {
      const queue = createRedisQueue({ name, url, discipline: { type: "priority" } });
      return queue.add("a").then(() => queue.shutDownWithDrain());
    },
    priority: (queue) => queue.add("a", { priority: 1 }),
    keepGivenUp: (_, name) => {
      const queue = createRedisQueue({ name, url, keepGivenUp: 9 });
      return queue.add("a").then(() => queue.shutDownWithDrain());
    },
    retryBudget: (_, name) => {
      const queue = createRedisQueue({ name, url, retryBudget: { ratio: 1, minRate: 1 } });
      return queue.add("a").then(() => queue.shutDownWithDrain());
    },
    redrive: (queue) => queue.redrive(),
    trace: (queue) => queue.add("a", { trace: `00-${"1".repeat(32)}-${"2".repeat(16)}-01` }),
    pause: async (queue) => {
      const pool = runWorkers(queue, () => {
        throw new RetryAfterError("1h", "later", { scope: "queue" });
      });
      await queue.add("a");
      await until(async () => await call("HEXISTS", `workqueue:{${queue.name}}:meta`, "until") === 1);
      await pool.stop();
    },
  };
  for (const [what, use] of Object.entries(first)) {
    const name = uniqueName("format");
    await using opened = open(url, name);
    for (const make of Object.values(CALLS)) await make(opened.queue);
    assertEquals(await call("HGET", `workqueue:{${name}}:meta`, "format"), "3");
    await use(opened.queue, name);
    assertEquals(await call("HGET", `workqueue:{${name}}:meta`, "format"), "4", what);
  }
});

redisTest("format: an older release refuses the next format, by name, and changes nothing", async ({ url }) => {
  await using server = await TimedServer.connect(url);
  await loadOlderRelease(server);
  const name = uniqueName("format");
  const { older, newer } = openBoth(server, name, () => START);
  await older.add([{ key: "a", payload: "" }]);
  await newer.add([{ key: "b", payload: "" }]);
  assertEquals((await older.counts()).ready, 2);
  await newer.addEach([{ key: "c", payload: "", delay: 0, priority: 1 }]);
  const before = await server.call("HGETALL", `workqueue:{${name}}:meta`);
  for (const call of [() => older.add([{ key: "d", payload: "" }]), () => older.counts()]) {
    await assertRejects(call, Error, `WQFORMAT Cannot use queue ${name}: the server has it in format 4`);
  }
  assertEquals(await server.call("HGETALL", `workqueue:{${name}}:meta`), before);
  await server.clear(name);
});
