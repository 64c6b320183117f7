/** Tests of queues whose items move to another number of partitions. */

import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { runWorkers, TerminalError } from "@workqueue/core";
import { createRedisQueue, type RedisQueue, type RedisQueueOptions } from "@workqueue/redis";
import { connect } from "../../packages/redis/connection/connect.ts";
import type { Connection } from "../../packages/redis/connection/connection.ts";
import { namesOf } from "../../packages/redis/division.ts";
import { Repartition } from "../../packages/redis/repartition.ts";
import { QUICK, take, until } from "./faults/faults.ts";
import { redisTest, uniqueName } from "./redis_tests.ts";

const SLOW = { type: "exponential", baseDelay: "1h", maxDelay: "1h" } as const;
const FAIR = { type: "fair", separator: "/", weights: { a: 2 }, maxPerGroup: 3 } as const;
const PRIORITY = { type: "priority", min: 0, max: 5, maxHeadStart: "unlimited" } as const;

function numbered(count: number, prefix = "item "): string[] {
  return Array.from({ length: count }, (_, i) => `${prefix}${i}`);
}

/** Puts items in all states into a queue, which it pauses. */
async function fill(queue: RedisQueue<{ id: string }>): Promise<void> {
  const of = (ids: string[]) => ids.map((id) => ({ id }));
  await queue.addAll(of(numbered(8, "a/failing ")));
  for (let i = 0; i < 8; i++) await (await take(queue as never) as never as Lease).finish({ requeue: true });
  await queue.addAll(of(numbered(6, "b/bad ")));
  for (let i = 0; i < 6; i++) {
    await (await take(queue as never) as never as Lease).finish({ giveUp: new TerminalError("no") });
  }
  await queue.addAll(of(numbered(250, "a/ready ")), { priority: ({ id }) => Number(id.slice(8)) % 5 });
  await queue.addAll(of(numbered(50, "b/delayed ")), { delay: ({ id }) => 1e6 + Number(id.slice(10)) });
  await queue.pause();
}

interface Lease {
  finish(outcome: unknown): Promise<boolean>;
}

type CallServer = (...command: string[]) => Promise<unknown>;

/** Returns what a queue has, without the order of items of different partitions. */
async function contentsOf(queue: RedisQueue<{ id: string }>, name: string, partitions: number, call: CallServer) {
  const { readyItems, delayedItems, failingItems, totals, paused, ...counts } = await queue.snapshot({ limit: 1000 });
  const { items, dropped, total } = await queue.givenUp();
  const priorities = readyItems.map(({ item, priority }) => [item.id, priority]);
  return {
    ready: new Map(priorities.toSorted() as [string, number][]),
    delayed: delayedItems.map(({ item }) => item.id).toSorted(),
    dues: await duesOf(name, partitions, call),
    failing: failingItems.map(({ item, attempts }) => [item.id, attempts]).toSorted(),
    givenUp: items.map(({ key, error, reason, attempts }) => [key, error, reason, attempts]),
    counts: [counts.ready, counts.delayed, counts.processing, counts.failing, counts.givenUp, dropped, total],
    totals,
    paused,
  };
}

/** Returns the delayed keys with the exact times when they are due. A snapshot only has the time that is left. */
async function duesOf(name: string, partitions: number, call: CallServer): Promise<[string, string][]> {
  const dues = await Promise.all(
    namesOf(name, { count: partitions }).map(async (part) => {
      const stored = await call("ZRANGE", `workqueue:{${part}}:delayed`, "0", "-1", "WITHSCORES") as string[];
      return stored.flatMap((key, i): [string, string][] => i % 2 === 0 ? [[key, stored[i + 1]!]] : []);
    }),
  );
  return dues.flat().toSorted(([one], [other]) => one < other ? -1 : 1);
}

for (const [from, to] of [[1, 4], [4, 1], [4, 9], [5, 2], [3, 3]] as const) {
  for (const discipline of [undefined, PRIORITY, FAIR]) {
    const how = discipline?.type ?? "no discipline";
    redisTest(`repartition: ${from} to ${to} keeps everything, with ${how}`, async ({ url, call }) => {
      const name = uniqueName("repartition");
      const options: RedisQueueOptions<{ id: string }> = {
        name,
        url,
        limiter: SLOW,
        discipline,
        keyOf: ({ id }) => id,
        keepGivenUp: 100,
      };
      const changed = from === to && discipline?.type !== "fair"
        ? { ...options, discipline: { type: "fair", separator: "/" } as const }
        : options;
      const queue = createRedisQueue({ ...options, partitions: from, onQueueError() {} });
      await fill(queue);
      const before = await contentsOf(queue, name, from, call);
      await using mover = createRedisQueue({ ...changed, partitions: from, onQueueError() {} });
      await mover.repartition(to);
      if (from !== to) await assertRejects(() => queue.add({ id: "late" }), Error, "Cannot use queue");
      await queue.shutDownWithDrain();
      await using after = createRedisQueue({ ...changed, partitions: to });
      const found = await contentsOf(after, name, to, call);
      if (from === to) found.ready = before.ready; // later calls move the items to the new order
      assertEquals(found, before);
      const left = await call("KEYS", `workqueue:{${name}*`) as string[];
      const names = namesOf(name, { count: to });
      const isLeft = (key: string) => !names.includes(/{(.*)}/.exec(key)![1]!) || /:(new:|export)/.test(key);
      assertEquals(left.filter((key) => isLeft(key) && !key.endsWith(":meta")), []);
      const done: string[] = [];
      await after.resume();
      const pool = runWorkers(after, ({ id }) => void done.push(id), { concurrency: 10 });
      await after.redrive();
      await until(() => done.length >= 256);
      assertEquals(new Set(done).size, 256);
      await pool.stop();
    });
  }
}

redisTest("repartition: an item's tokens increase, and its stalls are kept", async ({ url, call }) => {
  const name = uniqueName("repartition");
  let newest = 0n;
  await using first = createRedisQueue({ name, url, limiter: QUICK });
  await first.add("a");
  await call("HINCRBY", `workqueue:{${name}}:meta`, "last", "3600000000"); // as if the clock had been set back
  const lease = await take(first);
  newest = lease.token;
  await lease.finish({ requeueAfter: "1ms" });
  await call("HSET", `workqueue:{${name}}:stalls`, "a", "1");
  await first.pause();
  await first.repartition(3);
  await using next = createRedisQueue({ name, url, partitions: 3, limiter: QUICK });
  await next.resume();
  const again = await take(next);
  assertEquals(again.item, "a");
  assert(again.token > newest);
  await again.finish();
});

redisTest(
  "repartition: large items move in small batches, even if the queue object is shut down",
  async ({ url, call }) => {
    const name = uniqueName("repartition");
    const queue = createRedisQueue<{ id: string; text: string }>({ name, url, keyOf: ({ id }) => id });
    const text = "x".repeat(300_000);
    await queue.addAll(numbered(20).map((id) => ({ id, text })));
    await queue.pause();
    await call("CONFIG", "RESETSTAT");
    const moved = queue.repartition(2);
    await queue.shutDownWithDrain();
    await moved;
    const stats = String(await call("INFO", "commandstats"));
    const calls = [...stats.matchAll(/^cmdstat_eval(?:sha)?:calls=(\d+)/gm)].reduce((sum, [, n]) => sum + Number(n), 0);
    assert(calls > 20, `${calls} calls`); // a batch with all of them would take 12
    await using after = createRedisQueue<{ id: string; text: string }>({
      name,
      url,
      keyOf: ({ id }) => id,
      partitions: 2,
    });
    const { readyItems } = await after.snapshot({ limit: 100 });
    assertEquals(readyItems.map(({ item }) => item.id).toSorted(), numbered(20).toSorted());
    assert(readyItems.every(({ item }) => item.text === text));
  },
);

redisTest("repartition: calls that wait for an item are refused, and leave nothing behind", async ({ url, call }) => {
  const name = uniqueName("repartition");
  const queue = createRedisQueue({ name, url, onQueueError() {} });
  await queue.pause();
  const refused = assertRejects(() => queue.addAndWait("a"), Error, `Cannot use queue`);
  await until(async () => (await queue.counts()).ready === 1);
  await queue.repartition(3);
  await queue.shutDownWithDrain();
  await refused;
  assertEquals(await call("KEYS", `workqueue:{${name}*waits:*`), []);
});

redisTest("repartition: works only at rest, and to a number from 1 to 256", async ({ url }) => {
  const name = uniqueName("repartition");
  const errors: unknown[] = [];
  await using queue = createRedisQueue({ name, url, partitions: 2, onQueueError: (error) => errors.push(error) });
  await queue.repartition(3); // nothing is there yet
  await queue.addAll(numbered(5));
  await assertRejects(() => queue.repartition(3), Error, `Cannot divide queue "${name}" into 3 partitions: it must be`);
  const lease = await take(queue);
  await queue.pause();
  await assertRejects(() => queue.repartition(3), Error, "items of it are processing");
  await lease.finish();
  await assertRejects(() => queue.repartition(0), RangeError, "'partitions' must be an integer from 1 to 256");
  await queue.repartition(2);
  await queue.resume();
  const done: string[] = [];
  const pool = runWorkers(queue, (item) => void done.push(item));
  await queue.whenIdle();
  assertEquals([done.length, errors], [4, []]);
  await pool.stop();
  const { message } = await assertRejects(async () => {
    await queue.shutDownWithDrain();
    await queue.repartition(3);
  }, Error);
  assertStringIncludes(message, "was shut down");
});

for (const [from, to] of [[2, 3], [1, 2], [2, 1]] as const) {
  redisTest(`repartition: ${from} to ${to}, by a process that ends at any call`, async ({ url, call }) => {
    const options = { url, limiter: SLOW, keyOf: ({ id }: { id: string }) => id, onQueueError() {} };
    const settings = { discipline: FAIR, retryBudget: { ratio: 0.5, minRate: 6 } };
    for (let calls = 0, isOver = false; !isOver; calls++) {
      const name = uniqueName("repartition");
      const queue = createRedisQueue({ ...options, ...settings, name, partitions: from });
      await queue.addAll(numbered(110, "a/").map((id) => ({ id })));
      for (const group of ["b", "__proto__"]) await queue.pauseGroup(group, "1h");
      await queue.addAll(numbered(9, "b/").map((id) => ({ id })));
      await queue.pause();
      const before = await contentsOf(queue, name, from, call);
      isOver = await movesWithin(url, name, calls, to);
      if (!isOver) await queue.repartition(to);
      await using after = createRedisQueue({ ...options, name, partitions: to });
      assertEquals(await contentsOf(after, name, to, call), before, `after ${calls} calls`);
      const { blockedGroups } = await after.snapshot();
      assertEquals(blockedGroups?.find(({ group }) => group === "b")?.reason, "paused");
      let paused = 0;
      for (const partition of namesOf(name, { count: to })) {
        const key = `workqueue:{${partition}}`;
        const [order] = String(await call("HGET", `${key}:meta`, "order")).split(" ");
        assertEquals(await call("HGETALL", `${key}:order:${order}:weights`), ["a", "2"]);
        const budget = await call("HGET", `${key}:meta`, "budget");
        assert(budget !== null);
        paused += Number(await call("ZCARD", `${key}:pausedgroups`));
      }
      assertEquals(paused, 2);
      await assertRejects(() => queue.counts());
      await queue.shutDownWithDrain();
      assert(calls < 100);
    }
  });
}

redisTest("repartition: works for a queue without partitions that just got its discipline", async ({ url }) => {
  const options = { name: uniqueName("repartition"), url, onQueueError() {} };
  await using queue = createRedisQueue(options);
  const items = numbered(1000).map((item, i) => `${i % 3}/${item}`);
  await queue.addAll(items);
  await using fair = createRedisQueue({ ...options, discipline: FAIR });
  await fair.pause(); // ready items are still being added to the order
  await queue.repartition(4);
  await using after = createRedisQueue({ ...options, discipline: FAIR, partitions: 4 });
  await after.resume();
  const done: string[] = [];
  const pool = runWorkers(after, (item) => void done.push(item), { concurrency: 50 });
  await after.whenIdle();
  assertEquals(done.toSorted(), items.toSorted());
  await pool.stop();
});

redisTest("repartition: is refused if a partition would have the name of another queue", async ({ url }) => {
  const [name, onQueueError] = [uniqueName("repartition"), () => {}];
  await using queue = createRedisQueue({ name, url, onQueueError });
  await using other = createRedisQueue({ name: `${name}#2`, url, onQueueError });
  await queue.add("a");
  await other.add("b");
  await queue.pause();
  await assertRejects(() => queue.repartition(3), Error, `there is a queue with the name "${name}#2"`);
  assertEquals([(await queue.counts()).ready, (await other.counts()).ready], [1, 1]);
  await queue.repartition(2);
  await using fresh = createRedisQueue({ name: uniqueName("repartition"), url, partitions: 3, onQueueError });
  await using taken = createRedisQueue({ name: `${fresh.name}#1`, url, onQueueError });
  await taken.add("c");
  await assertRejects(() => fresh.counts(), Error, "WQPARTITIONS");
  assertEquals((await taken.counts()).ready, 1);
});

redisTest("repartition: until it has ended, every call is refused, and so is another number", async ({ url }) => {
  const name = uniqueName("repartition");
  const onQueueError = () => {};
  await using queue = createRedisQueue({ name, url, onQueueError });
  await queue.addAll(numbered(120));
  await queue.pause();
  assertEquals(await movesWithin(url, name, 8, 3), false);
  const moving = "its items are being moved to other partitions";
  await assertRejects(() => queue.add("late"), Error, moving);
  for (const partitions of [2, 3]) {
    await using other = createRedisQueue({ name, url, partitions, onQueueError });
    await assertRejects(() => other.add("late"), Error, moving);
  }
  await assertRejects(() => queue.repartition(4), Error, "a move to 3 partitions has begun and must end first");
  await queue.repartition(3);
  await using after = createRedisQueue({ name, url, partitions: 3 });
  assertEquals((await after.counts()).ready, 120);
});

/** Moves a queue with a connection that breaks after some calls. Returns whether the move has ended before. */
async function movesWithin(url: string, name: string, calls: number, count: number): Promise<boolean> {
  const connection = connect("test", { url });
  const run: Connection["run"] = async (...args) => {
    const reply = await connection.run(...args);
    if (calls-- <= 0) throw new Error("the process is gone");
    return reply;
  };
  try {
    await new Repartition({ ...connection, run } as Connection, name, null).run(count);
    return true;
  } catch (error) {
    assertEquals((error as Error).message, "the process is gone");
    return false;
  } finally {
    await connection.release();
  }
}

const MEANWHILE = [
  { from: 1, to: 3, others: [3] },
  { from: 2, to: 3, others: [3] },
  { from: 3, to: 1, others: [1] },
  { from: 2, to: 3, others: [4] },
  { from: 3, to: 1, others: [2] },
  { from: 1, to: 2, others: [2, 1] },
  { from: 2, to: 1, others: [1, 2] },
  { from: 2, to: 3, others: [3, 2, 3] },
  { from: 3, to: 2, others: [2, 5, 3] },
];

for (const { from, to, others } of MEANWHILE) {
  redisTest(
    `repartition: ${from} to ${to}, while another process moves to ${others.join(", ")}`,
    async ({ url, call }) => {
      const options = { url, limiter: SLOW, keyOf: ({ id }: { id: string }) => id, onQueueError() {} };
      for (let calls = 0, isOver = false; !isOver; calls++) {
        const name = uniqueName("repartition");
        const queue = createRedisQueue({ ...options, name, partitions: from });
        await queue.addAll(numbered(120).map((id) => ({ id })));
        await queue.pause();
        const before = await contentsOf(queue, name, from, call);
        isOver = true;
        const errors: string[] = [];
        const note = (error: Error) => void errors.push(error.message);
        await moveWith(url, name, to, async (made) => {
          if (made !== calls) return;
          isOver = false;
          for (const other of others) await queue.repartition(other).catch(note);
        }).catch(note);
        await queue.shutDownWithDrain();
        const found = await Promise.all([1, 2, 3, 4, 5].map(async (partitions) => {
          await using after = createRedisQueue({ ...options, name, partitions });
          return await contentsOf(after, name, partitions, call).catch(() => []);
        }));
        assertEquals(found.flat(), [before], `after ${calls} calls: ${errors}`);
        for (const error of errors) assertMatch(error, /another process moves its items, or has moved|must end first/);
      }
    },
  );
}

/** Moves a queue, and calls back after each call. */
async function moveWith(
  url: string,
  name: string,
  count: number,
  onCall: (made: number) => Promise<void>,
): Promise<void> {
  const connection = connect("test", { url });
  let made = 0;
  const run: Connection["run"] = async (...args) => {
    const reply = await connection.run(...args);
    await onCall(made++);
    return reply;
  };
  try {
    await new Repartition({ ...connection, run } as Connection, name, null).run(count);
  } finally {
    await connection.release();
  }
}
