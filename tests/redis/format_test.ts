/**
 * Tests of queues and throttles stored in another format. They stay unchanged, and every call fails with an error that
 * explains what to do.
 */

import { assert, assertEquals, assertRejects } from "@std/assert";
import type { RedisQueue } from "@workqueue/redis";
import { FORMAT } from "../../packages/redis/scripts/format.ts";
import * as openPartitions from "../../packages/redis/scripts/open_partitions.ts";
import * as repartition from "../../packages/redis/scripts/repartition.ts";
import { SCRIPTS } from "../../packages/redis/scripts/script.ts";
import { THROTTLE_SCRIPTS } from "../../packages/redis/scripts/throttle_script.ts";
import { open, until } from "./faults/faults.ts";
import { redisTest, type SharedServer, uniqueName } from "./redis_tests.ts";

/** Queue in another format with a ready, a delayed, a processing and a given-up key. */
const OTHER_FORMAT: readonly string[][] = [
  ["HSET", "meta", "format", "0", "last", "1800000000000000", "heard", "1800000000000000", "checked", "0"],
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

/** Returns the error of a queue that is stored in another format. */
const messageFor = (name: string, format: string) =>
  `WQFORMAT Cannot use queue ${name}: the server has it in format ${format}, and this release uses format ${FORMAT}. ` +
  "Let the processes of the release that stored it finish its items, then delete its keys " +
  `(workqueue:{${name}}:*), or use another name`;

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

/** Stores a queue in another format. */
async function store(name: string, call: SharedServer["call"]): Promise<void> {
  for (const [command, key, ...rest] of OTHER_FORMAT) await call(command!, `workqueue:{${name}}:${key}`, ...rest);
}

redisTest(
  "format: a queue of another format is left as it is, and each call says what to do",
  async ({ url, call }) => {
    const name = uniqueName("format");
    await store(name, call);
    const before = await stored(name, call);
    assertEquals(Object.keys(before).length, OTHER_FORMAT.length);
    const message = messageFor(name, "0");
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

redisTest("format: a queue of a later format is left to the release that stored it", async ({ url, call }) => {
  const name = uniqueName("format");
  const later = `${Number(FORMAT) + 1}`;
  await call("HSET", `workqueue:{${name}}:meta`, "format", later);
  await using opened = open(url, name);
  await assertRejects(() => opened.queue.add("a"), Error, messageFor(name, later));
  assertEquals(await call("HGETALL", `workqueue:{${name}}:meta`), ["format", later]);
});

redisTest("format: a queue of another format is neither opened with partitions nor divided", async ({ url, call }) => {
  const name = uniqueName("format");
  await store(name, call);
  const before = await stored(name, call);
  await using opened = open(url, name, { partitions: 2 });
  await assertRejects(() => opened.queue.add("a"), Error, messageFor(name, "0"));
  await assertRejects(() => opened.queue.repartition(3), Error, messageFor(name, "0"));
  assertEquals(await stored(name, call), before);
});

/** Scripts for the keys of a queue, each with the key on which it runs, and for the partitions of a queue. */
const ALL = [
  ...[SCRIPTS, openPartitions, repartition].flatMap((all) => Object.entries(all)).map((script) => [...script, "meta"]),
  ...Object.entries(THROTTLE_SCRIPTS).map((script) => [...script, "state"]),
] as [name: string, value: unknown, key: string][];

redisTest("format: every script refuses another format before it does anything", async ({ call }) => {
  const name = uniqueName("format");
  await store(name, call);
  await call("HSET", `workqueue:{${name}}:state`, "format", "0");
  const before = await stored(name, call);
  let count = 0;
  for (const [script, value, key] of ALL) {
    if (typeof value !== "object" || value === null || !("lua" in value)) continue;
    count++;
    for (const isPartition of [false, true]) {
      const lua = (value.lua as (time: string, isPartition: boolean) => string)("redis.call('TIME')", isPartition);
      const args = [`workqueue:{${name}}:${key}`, ...isPartition && key === "meta" ? ["[2]"] : []];
      const answer = await call("EVAL", lua, "1", ...args).catch(String);
      const what = key === "meta" ? `queue ${name}` : `throttle {${name}}`;
      const expected =
        `WQFORMAT Cannot use ${what}: the server has it in format 0, and this release uses format ${FORMAT}`;
      assert(String(answer).includes(expected), `${script}: ${answer}`);
    }
  }
  assert(count >= Object.keys(SCRIPTS).length + 15, `${count} scripts`);
  assertEquals(await stored(name, call), before);
});

redisTest("format: once the old keys are deleted, the same process continues", async ({ url, call }) => {
  const name = uniqueName("format");
  await store(name, call);
  await using opened = open(url, name);
  await assertRejects(() => opened.queue.add("a"), Error, "WQFORMAT");
  for (const key of Object.keys(await stored(name, call))) await call("UNLINK", key);
  await opened.queue.add("a");
  const lease = await opened.queue.get();
  assert(!lease.shutdown && await lease.finish());
  assertEquals(await call("HGET", `workqueue:{${name}}:meta`, "format"), FORMAT);
});
