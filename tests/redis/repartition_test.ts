/** Tests of queues whose items move to another number of partitions. */

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
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

/** Returns what a queue has, without the order of items of different partitions. */
async function contentsOf(queue: RedisQueue<{ id: string }>) {
  const { readyItems, delayedItems, failingItems, totals, paused, ...counts } = await queue.snapshot({ limit: 1000 });
  const { items, dropped, total } = await queue.givenUp();
  const priorities = readyItems.map(({ item, priority }) => [item.id, priority]);
  return {
    ready: new Map(priorities.toSorted() as [string, number][]),
    delayed: delayedItems.map(({ item }) => item.id).toSorted(),
    dues: delayedItems.map(({ dueInMs }) => Math.round(dueInMs / 1000)),
    failing: failingItems.map(({ item, attempts }) => [item.id, attempts]).toSorted(),
    givenUp: items.map(({ key, error, reason, attempts }) => [key, error, reason, attempts]),
    counts: [counts.ready, counts.delayed, counts.processing, counts.failing, counts.givenUp, dropped, total],
    totals,
    paused,
  };
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
      const before = await contentsOf(queue);
      await using mover = createRedisQueue({ ...changed, partitions: from, onQueueError() {} });
      await mover.repartition(to);
      if (from !== to) await assertRejects(() => queue.add({ id: "late" }), Error, "Cannot use queue");
      await queue.shutDownWithDrain();
      await using after = createRedisQueue({ ...changed, partitions: to });
      const found = await contentsOf(after);
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
      await until(() => done.length === 256);
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

redisTest("repartition: only at rest, and to a number from 1 to 256", async ({ url }) => {
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

redisTest("repartition: a process that ends at any call leaves a move that another one ends", async ({ url }) => {
  const options = { url, limiter: SLOW, keyOf: ({ id }: { id: string }) => id, onQueueError() {} };
  for (let calls = 0, isOver = false; !isOver; calls++) {
    const name = uniqueName("repartition");
    const queue = createRedisQueue({ ...options, name, partitions: 2 });
    await queue.addAll(numbered(120).map((id) => ({ id })));
    await queue.pause();
    const before = await contentsOf(queue);
    isOver = await movesWithin(url, name, calls, 3);
    if (!isOver) await queue.repartition(3);
    await using after = createRedisQueue({ ...options, name, partitions: 3 });
    assertEquals(await contentsOf(after), before, `after ${calls} calls`);
    await assertRejects(() => queue.counts());
    await queue.shutDownWithDrain();
    assert(calls < 100);
  }
});

redisTest("repartition: while it has not ended, every call is refused, and so is another number", async ({ url }) => {
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
