/** Tests of pausing a whole queue: no process receives items, and everything else continues. */

import { assert, assertEquals } from "@std/assert";
import { runWorkers } from "@workqueue/core";
import { createRedisQueue, type RedisLease, type RedisQueue } from "@workqueue/redis";
import { engineTest, keysOf, LEASE } from "./bench.ts";
import { countsOf } from "../contracts/counts.ts";
import { redisTest, uniqueName } from "./redis_tests.ts";
import { callRedis } from "./server.ts";

engineTest("a paused queue hands out nothing, and accepts adds", async (bench) => {
  await bench.add("processing", "ready");
  const { taken: [processing] } = await bench.take("o");
  await bench.engine.pause();
  const since = await bench.stored("HGET", "meta", "paused");
  await bench.engine.pause();
  assertEquals(await bench.stored("HGET", "meta", "paused"), since);
  await bench.add("added");
  await bench.addAfter(10, "due");
  await bench.pass(20);
  assertEquals(keysOf(await bench.take("other", 5)), []);
  assert(await bench.engine.renew("o"));
  assertEquals(await bench.finish("processing", processing!.token, "retry"), true);
  assertEquals(await countsOf(bench.engine), {
    ready: 3,
    blocked: 0,
    delayed: 1,
    processing: 0,
    failing: 1,
    givenUp: 0,
  });
  await bench.open({}).resume(); // from another process
  assertEquals(keysOf(await bench.take("other", 5)), ["ready", "added", "due"]);
});

engineTest("resuming a queue with the number of a pause works only if it was the last pause", async (bench) => {
  const isPaused = async () => (await bench.engine.snapshot(0)).paused;
  const first = await bench.engine.pause();
  const second = await bench.open({}).pause(); // by another process
  await bench.engine.resume(first);
  assertEquals([first, second, await isPaused()], [1, 2, true]);
  await bench.engine.resume(second);
  assertEquals(await isPaused(), false);
  await bench.engine.pause();
  await bench.engine.resume(second);
  assertEquals(await isPaused(), true);
  await bench.engine.resume();
  assertEquals(await isPaused(), false);
});

engineTest(
  "while a queue is paused, the items of a crashed process come back, and are handed out after it",
  async (bench) => {
    await bench.add("a");
    await bench.take("gone");
    await bench.engine.pause();
    await bench.pass(LEASE + 1);
    assertEquals(keysOf(await bench.take("other", 5)), []);
    assertEquals(await countsOf(bench.engine), {
      ready: 1,
      blocked: 0,
      delayed: 0,
      processing: 0,
      failing: 0,
      givenUp: 0,
    });
    await bench.engine.resume();
    assertEquals(keysOf(await bench.take("other", 5)), ["a"]);
  },
);

engineTest(
  "a process that finds the queue paused takes no tokens, and isn't told when an item is due",
  async (bench) => {
    await bench.add("a");
    await bench.addAfter(5000, "later");
    await bench.engine.pause();
    const request = {
      process: "p",
      owner: "o",
      known: 0,
      wanted: 3,
      throttle: { id: "throttle", rate: 1, burst: 2 },
      finishes: [],
    } as const;
    const { pauseMs, taken } = await bench.engine.turn(request);
    assertEquals([pauseMs, taken], [undefined, []]);
    assertEquals(await bench.stored("EXISTS", "buckets"), 0);
    await bench.engine.resume();
    assertEquals((await bench.engine.turn(request)).taken.length, 1);
  },
);

engineTest("while a queue is paused, a process does not keep looking for keys to try alone", async (bench) => {
  await bench.stored("HSET", "stalls", "a", "2");
  await bench.add("a");
  await bench.engine.pause();
  assertEquals((await bench.take("one")).pauseMs, undefined, "nobody has the duty");
  await bench.stored("HSET", "meta", "duty", "1!gone");
  assertEquals((await bench.take("two")).pauseMs, undefined, "its owner was lost");
});

engineTest("no process is woken while a queue is paused, and resuming wakes all waiting processes", async (bench) => {
  // No process has a subscription here, so notifying a process removes it from `idle`.
  const idle = () => bench.stored("ZCARD", "idle");
  await bench.take("one");
  await bench.take("two");
  await bench.engine.pause();
  await bench.add("a");
  await bench.addAfter(5000, "b");
  assertEquals(await idle(), 2);
  await bench.engine.resume();
  assertEquals(await idle(), 0);
  await bench.take("one", 2);
  await bench.engine.resume();
  assertEquals(await idle(), 1, "there was nothing to resume");
});

async function take(queue: RedisQueue): Promise<RedisLease> {
  const lease = await queue.get();
  assert(!lease.shutdown);
  return lease;
}

redisTest("pause: one process pauses all, and resuming wakes all waiting processes", async ({ url }) => {
  const name = uniqueName("pause");
  const open = () => createRedisQueue({ name, url });
  await using one = open();
  await using two = open();
  await one.add("a");
  const processing = await take(two);
  await one.pause();
  // Both processes become idle and stay idle, because adding to a paused queue notifies no process.
  const waiting = [take(one), take(two)];
  await two.addAll(["b", "c"]);
  while (await idleOf(name, url) < 2);
  assert(await processing.finish());
  assertEquals(await countsOf(one), { ready: 2, blocked: 0, delayed: 0, processing: 0, failing: 0, givenUp: 0 });
  await two.resume();
  const leases = await Promise.all(waiting);
  assertEquals(leases.map(({ item }) => item).toSorted(), ["b", "c"]);
  for (const lease of leases) await lease.finish();
});

redisTest("pause: it outlives the process that requested it, and pools wait meanwhile", async ({ url }) => {
  const name = uniqueName("pause");
  {
    await using asker = createRedisQueue({ name, url });
    await asker.pause();
  }
  await using queue = createRedisQueue({ name, url });
  const done: string[] = [];
  const pool = runWorkers(queue, (item) => void done.push(item));
  await queue.addAll(["a", "b"]);
  while (await idleOf(name, url) < 1);
  assertEquals(done, []);
  await queue.resume();
  await queue.whenIdle();
  assertEquals(done, ["a", "b"]);
  await pool.stop();
});

/** Returns the number of idle processes, which wait for items. */
async function idleOf(name: string, url: string): Promise<number> {
  return await callRedis(url, "ZCARD", `workqueue:{${name}}:idle`) as number;
}
