/** Tests of queues with partitions, with one server and with a cluster. */

import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { ConfigError, limiters, loadConfig, runWorkers, TerminalError, TokenBucket } from "@workqueue/core";
import { createRedisQueue, type RedisQueue, type RedisQueueOptions, redisQueues } from "@workqueue/redis";
import type { EngineSettings } from "@workqueue/engine";
import type { Connection, Script } from "../../packages/redis/connection/connection.ts";
import { slotOf } from "../../packages/redis/connection/hash_slot.ts";
import { RedisEngine } from "../../packages/redis/engine.ts";
import { planLimiter } from "../../packages/engine/limiter_plan.ts";
import { PartitionedRedisEngine } from "../../packages/redis/partitioned_engine.ts";
import { Partitioning } from "../../packages/redis/partitioning.ts";
import { createScripts } from "../../packages/redis/scripts/script.ts";
import { Cluster } from "./clusters.ts";
import { elsewhere, open, QUICK, take, until } from "./faults/faults.ts";
import { redisTest, serverTest, type SharedServer, uniqueName } from "./redis_tests.ts";

const FAIR = { type: "fair", separator: "/" } as const;

function partitionsTest(
  name: string,
  options: Partial<RedisQueueOptions>,
  run: (queue: RedisQueue, server: SharedServer, name: string) => Promise<void>,
): void {
  redisTest(`partitions: ${name}`, async (server) => {
    const queueName = uniqueName("partitions");
    await using opened = open(server.url, queueName, { partitions: 4, ...options });
    await run(opened.queue, server, queueName);
    assertEquals(opened.errors, []);
  });
}

function numbered(count: number, prefix = "item "): string[] {
  return Array.from({ length: count }, (_, i) => `${prefix}${i}`);
}

/** Makes the queue give up items, one after another. */
async function giveUp(queue: RedisQueue, ...items: string[]): Promise<void> {
  for (const item of items) {
    await queue.add(item);
    await (await take(queue)).finish({ giveUp: new TerminalError(`bad ${item}`) });
  }
}

/** Number of items of each partition of a queue on a server. */
async function sizesOf({ call }: SharedServer, name: string, partitions: number): Promise<number[]> {
  const sizes = numbered(partitions, "").map((i) => call("ZCARD", `workqueue:{${name}#${i}}:ready`));
  return (await Promise.all(sizes)).map(Number);
}

partitionsTest("each item is in one partition, and is handed out once", {}, async (queue, server, name) => {
  const items = numbered(400);
  await Promise.all([queue.addAll(items), queue.addAll(items), queue.add("item 7")]);
  const sizes = await sizesOf(server, name, 4);
  assertEquals(sizes.reduce((sum, size) => sum + size), 400);
  for (const size of sizes) assert(size > 70 && size < 130, `${sizes}`);
  await using other = open(elsewhere(server.url), name, { partitions: 4 });
  const done: string[] = [];
  const pools = [queue, other.queue].map((each) => {
    return runWorkers(each, (item) => void done.push(item), { concurrency: 7 });
  });
  await queue.whenIdle();
  for (const pool of pools) await pool.stop();
  assertEquals(done.toSorted(), items.toSorted());
});

partitionsTest("calls about an item go to its partition", {}, async (queue) => {
  for (const item of numbered(20)) {
    await queue.addAfter(item, "1h");
    assertEquals(await queue.promoteDelayed(item), true);
    const lease = await take(queue);
    assertEquals([lease.item, await lease.finish()], [item, true]);
    await queue.addAfter(item, "1h");
    assertEquals(await queue.cancelDelayed(item), true);
  }
  for (const item of numbered(20)) {
    await queue.addRateLimited(item);
    assertEquals(await queue.numRequeues(item), 1);
    await queue.forget(item);
    assertEquals(await queue.numRequeues(item), 0);
  }
  await until(async () => (await queue.counts()).ready === 20);
});

partitionsTest("counts, snapshots and totals cover all partitions", {}, async (queue) => {
  await queue.addAll(numbered(12));
  await queue.addAll(numbered(8, "later "), { delay: (item) => 60_000 - 1000 * Number(item.slice(6)) });
  const leases = [];
  for (let i = 0; i < 4; i++) leases.push(await take(queue));
  const { ready, delayed, processing } = await queue.counts();
  assertEquals([ready, delayed, processing], [8, 8, 4]);
  const snapshot = await queue.snapshot({ limit: 5 });
  assertEquals([snapshot.readyItems.length, snapshot.processingItems.length, snapshot.paused], [5, 4, false]);
  assertEquals(snapshot.delayedItems.map(({ item }) => item), ["later 7", "later 6", "later 5", "later 4", "later 3"]);
  assert(snapshot.oldestReadyMs > 0);
  assertEquals([snapshot.totals.added, snapshot.totals.handedOut], [12, 4]);
  for (const lease of leases) await lease.finish({ requeueAfter: "1h" });
  assertEquals((await queue.counts()).delayed, 12);
});

partitionsTest(
  "given-up items of all partitions are listed, newest first, and can be redriven and discarded",
  {},
  async (queue, { url }, name) => {
    const items = numbered(23);
    await giveUp(queue, ...items);
    const pages: string[][] = [];
    for (let cursor: string | undefined, page = 0; page === 0 || cursor !== undefined; page++) {
      const { items, cursor: next, total } = await queue.givenUp({ limit: 5, cursor });
      pages.push(items.map(({ key }) => `${key}`));
      assertEquals(total, 23);
      cursor = next;
    }
    assertEquals(pages.flat(), items.toReversed());
    assertEquals(pages.map(({ length }) => length), [5, 5, 5, 5, 3]);
    assertEquals((await queue.givenUp({ search: "ITEM 2" })).items.length, 4); // 2, 20, 21 and 22
    assertEquals(await queue.discard({ keys: ["item 1", "item 2", "item 3", "other"] }), 3);
    const started = await queue.redrive({ keys: ["item 4", "item 5", "item 6"] });
    assertEquals([started.redriven, started.running], [3, false]);
    assertEquals((await queue.redrive({ keys: ["other"] })).redriven, 0);
    assertEquals(await queue.redriveProgress(), { redriven: 0, left: 0, running: false });
    await queue.redrive({ rate: 4 });
    await using other = open(url, name, { partitions: 4 });
    await assertRejects(() => other.queue.redrive(), Error, "a redrive of this queue is running");
    await queue.stopRedrive();
    await queue.redrive();
    await until(async () => !(await queue.redriveProgress())!.running);
    const { ready, givenUp } = await queue.counts();
    assertEquals([ready, givenUp], [20, 0]);
    await queue.whenBelow(21);
  },
);

Deno.test("partitions: a redrive that one partition refuses ends in the others, and stops no other redrive", async () => {
  const calls: string[] = [];
  const engines = [true, false, true].map((isFree, i) => ({
    redriveProgress: () => Promise.resolve(undefined), // the other redrive begins after this
    redrive: () => Promise.resolve(isFree ? { redriven: 1, left: 0, running: true, pauseMs: 1 } : undefined),
    stopRedrive: () => Promise.resolve(void calls.push(`stop ${i}`)),
  }));
  const settings = { name: "q" } as unknown as EngineSettings;
  const engine = new PartitionedRedisEngine(settings, {} as Partitioning, engines as unknown as RedisEngine[]);
  assertEquals(await engine.redrive({ search: "", keys: undefined }, undefined), undefined);
  assertEquals(calls, ["stop 0", "stop 2"]);
});

redisTest("partitions: a lease that outlives the division of its queue can be finished", async ({ url, call }) => {
  const name = uniqueName("partitions");
  const queue = createRedisQueue({ name, url, partitions: 2, onQueueError() {} });
  await queue.add("a");
  const lease = await take(queue);
  const metas = [name, `${name}#0`, `${name}#1`].map((each) => `workqueue:{${each}}:meta`);
  for (const meta of metas) await call("HSET", meta, "partitions", "[7]"); // as if the lease had been lost long ago
  const { message } = await assertRejects(() => queue.counts(), Error); // a call of an idle worker may have come first
  assertMatch(message, /its number of partitions was changed|it has 7 partitions/);
  await assertRejects(() => queue.counts(), Error, "it has 7 partitions");
  await assertRejects(() => lease.finish(), Error, "it has 7 partitions");
  await queue.shutDownWithDrain();
});

partitionsTest("a pause and its end apply to all partitions", {}, async (queue, { url }, name) => {
  const done: string[] = [];
  const pool = runWorkers(queue, (item) => void done.push(item), { concurrency: 2 });
  const first = await queue.pause();
  const second = await queue.pause();
  await queue.addAll(numbered(40));
  await queue.resume({ pause: first });
  assertEquals([(await queue.snapshot()).paused, (await queue.counts()).ready, second], [true, 40, first + 1]);
  await using other = open(elsewhere(url), name, { partitions: 4 });
  await other.queue.resume();
  await queue.whenIdle();
  assertEquals(done.length, 40);
  await pool.stop();
});

partitionsTest("an idle worker learns of an item in any partition", {}, async (queue) => {
  let done = 0;
  const pool = runWorkers(queue, () => void done++, { concurrency: 2 });
  const begin = performance.now();
  for (const [i, item] of numbered(40).entries()) {
    await queue.add(item);
    await until(() => done === i + 1);
  }
  assert(performance.now() - begin < 5000, "an item was taken as late as without a message");
  await pool.stop();
});

partitionsTest(
  "a group is in one partition, so its limit and its pause are exact",
  { discipline: { ...FAIR, maxPerGroup: 2 } },
  async (queue, { url }, name) => {
    const items = numbered(60).map((item, i) => `${i % 6}/${item}`);
    await queue.pauseGroup("5", "1h");
    await using producer = open(url, name, { partitions: 4 }); // knows no discipline
    await producer.queue.addAll(items);
    const running = new Map<string, number>();
    let [most, done] = [0, 0];
    await using other = open(elsewhere(url), name, { partitions: 4, discipline: { ...FAIR, maxPerGroup: 2 } });
    const pools = [queue, other.queue].map((each) =>
      runWorkers(each, async (item) => {
        const group = item.split("/")[0]!;
        running.set(group, (running.get(group) ?? 0) + 1);
        most = Math.max(most, running.get(group)!);
        await Promise.resolve();
        running.set(group, running.get(group)! - 1);
        done++;
      }, { concurrency: 8 })
    );
    await until(() => done === 50);
    const { blocked } = await queue.counts();
    const { blockedGroups } = await queue.snapshot();
    assertEquals([blocked, blockedGroups?.map(({ group, reason }) => [group, reason])], [10, [["5", "paused"]]]);
    await queue.resumeGroup("5");
    await queue.whenIdle();
    assertEquals([done, most], [60, 2]);
    for (const pool of pools) await pool.stop();
  },
);

partitionsTest(
  "a throttle's bucket is shared by all partitions, and a limiter's bucket is divided",
  {},
  async (_queue, { url }) => {
    const name = uniqueName("partitions");
    const config = loadConfig({
      queues: { [name]: { throttle: { rate: 0.001, burst: 10 }, limiter: { type: "bucket", rate: 0.004, burst: 8 } } },
    });
    const queue = redisQueues(config, { url }).queue(name, { partitions: 4 });
    await queue.addAll(numbered(30));
    let done = 0;
    const pool = config.runWorkers(name, queue, () => void done++);
    await until(() => done === 10);
    await until(async () => (await queue.counts()).processing === 1); // it waits for a token
    assertEquals(done, 10);
    await pool.stop();
    for (const item of numbered(20, "limited ")) await queue.addRateLimited(item);
    const { delayed } = await queue.counts();
    assertEquals(delayed, 20 - 8, "each of 4 partitions lets 2 through at once");
    await queue.shutDownWithDrain();

    const own = createRedisQueue({ name: uniqueName("partitions"), url, partitions: 3 });
    await own.addAll(numbered(9));
    let taken = 0;
    const throttled = runWorkers(own, () => void taken++, { throttle: new TokenBucket(0.001, 5) });
    await until(() => taken === 5);
    await throttled.stop();
    await own.shutDownWithDrain();
  },
);

Deno.test("partitions: a throttle that is a limiter's bucket is refused", () => {
  const config = loadConfig({
    limiters: { api: { type: "bucket", rate: 1, burst: 1 } },
    queues: { q: { throttle: "api", limiter: "api" } },
  });
  const queues = redisQueues(config, { url: "redis://localhost:1" });
  const error = assertThrows(() => queues.queue("q", { partitions: 2 }), ConfigError);
  assertEquals(error.issues.map(({ path }) => path), ["/queues/q/throttle"]);
});

Deno.test("partitions: an invalid number is refused", () => {
  for (const partitions of [0, 257, 1.5, -1, NaN]) {
    assertThrows(
      () => createRedisQueue({ name: "q", partitions }),
      RangeError,
      "'partitions' must be an integer from 1 to 256",
    );
  }
  assertThrows(() => createRedisQueue({ name: "q", partitions: "4" as never }), TypeError);
});

redisTest("partitions: the number of the first use stays, and any other number is refused", async ({ url, call }) => {
  const [name, plain] = [uniqueName("partitions"), uniqueName("partitions")];
  const errors: unknown[] = [];
  const openAs = (name: string, partitions?: number, options = {}) => {
    return createRedisQueue({ name, url, partitions, onQueueError: (error) => errors.push(error), ...options });
  };
  await using four = openAs(name, 4);
  await four.add("a");
  await using three = openAs(name, 3);
  await using none = openAs(name);
  await using one = openAs(name, 1);
  const message = `Cannot use queue "${name}" with 3 partitions: it has 4 partitions`;
  for (const call of [() => three.add("b"), () => three.counts(), () => three.pause()]) {
    await assertRejects(call, Error, message);
  }
  for (const queue of [none, one]) {
    const { message } = await assertRejects(() => queue.add("b"), Error);
    assertStringIncludes(message, `Cannot use queue ${name} without the option 'partitions': it has 4 partitions`);
  }
  assertEquals((await four.counts()).ready, 1);

  await using before = openAs(plain);
  await before.add("a");
  await using divided = openAs(plain, 4);
  await assertRejects(() => divided.add("b"), Error, `"${plain}" with 4 partitions: it has no partitions`);
  assertEquals([(await before.counts()).ready, await call("KEYS", `workqueue:{${plain}#*`)], [1, []]);

  // By groups or not: stored as well.
  await using fair = openAs(name, 4, { discipline: FAIR });
  await assertRejects(
    () => fair.add("b"),
    Error,
    `its items are divided without regard to groups, but the discipline needs groups that end at "/"`,
  );
  const groups = uniqueName("partitions");
  await using byGroup = openAs(groups, 4, { discipline: FAIR });
  await byGroup.addAll(numbered(30, "a/"));
  const sizes = async () => {
    return (await Promise.all(numbered(4, "").map((i) => call("ZCARD", `workqueue:{${groups}#${i}}:ready`)))).map(
      Number,
    );
  };
  await using other = openAs(groups, 4); // any discipline
  await other.addAll(numbered(60, "a/"));
  assertEquals((await sizes()).toSorted(), [0, 0, 0, 60]);
  await using dotted = openAs(groups, 4, { discipline: { ...FAIR, separator: "." } });
  await assertRejects(
    () => dotted.add("b"),
    Error,
    `divided by groups that end at "/", but the discipline needs groups that end at "."`,
  );
  assertEquals(errors.length, 8);
});

Deno.test("partitions: items taken after a reconnect are not handed back, even if the division into partitions was not known", async () => {
  const sent: Script[] = [];
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const run = (script: Script, key: string) => {
    if (key === "workqueue:{q}:meta") return promise;
    sent.push(script);
    return Promise.resolve([null, 0, 0, 0, [], [[], [], [], [], [], [], [], []], [[], [], []]]);
  };
  const connection = { run, isUp: true, onReconnect: () => () => {} } as unknown as Connection;
  const partitioning = new Partitioning(connection, "q", { count: 2, separator: null });
  const scripts = createScripts(undefined, true);
  const engine = new RedisEngine(connection, scripts, {
    name: "q#0",
    leaseDuration: 30_000,
    maxStalls: 5,
    replaces: false,
    folds: false,
    hasItems: false,
    limiter: planLimiter("test", limiters.describe(QUICK)),
    partitioning,
  });
  const turn = engine.turn({ process: "p", owner: "o", known: 0, wanted: 1, throttle: undefined, finishes: [] });
  const release = engine.release("o", []);
  resolve([1, "[2]", null]);
  assertEquals([(await turn).taken, await release, sent], [[], [], [scripts.define, scripts.turn]]);
});

redisTest("partitions: any number up to 256 works, and the keys are spread evenly", async (server) => {
  const name = uniqueName("partitions");
  await using queue = createRedisQueue({ name, url: server.url, partitions: 256, limiter: QUICK });
  await queue.addAll(numbered(5120, "tenant-"));
  const sizes = await sizesOf(server, name, 256);
  assertEquals(sizes.reduce((sum, size) => sum + size), 5120);
  assert(Math.max(...sizes) <= 2 * 20, `${Math.max(...sizes)}`);
  let done = 0;
  const pool = runWorkers(queue, () => void done++, { concurrency: 100 });
  await queue.whenIdle();
  assertEquals(done, 5120);
  await pool.stop();
});

redisTest("partitions: a queue survives a reconnect and a server that has lost its data", async ({ url, call }) => {
  const name = uniqueName("partitions");
  await using queue = createRedisQueue({ name, url, partitions: 4, keepGivenUp: 8, limiter: QUICK });
  const done: string[] = [];
  const pool = runWorkers(queue, (item) => void done.push(item));
  await queue.addAll(numbered(20));
  await queue.whenIdle();
  await call("CLIENT", "KILL", "TYPE", "NORMAL");
  await queue.addAll(numbered(20, "later "));
  await queue.whenIdle();
  assertEquals(done.length, 40);
  await pool.stop();
});

serverTest("partitions: in a cluster, the nodes share the work, and the others continue if one fails", async () => {
  await using cluster = await Cluster.start();
  const first = cluster.masters[0]!;
  const name = uniqueName("partitions");
  const errors: unknown[] = [];
  const queues = [cluster.urls, cluster.urls.toReversed()].map((urls) => {
    return createRedisQueue({
      name,
      cluster: urls,
      partitions: 9,
      limiter: QUICK,
      callTimeout: "1m",
      leaseDuration: "30s",
      onQueueError: (error) => errors.push(error),
    });
  });
  const done = new Map<string, number>();
  const pools = queues.map((queue) => {
    return runWorkers(queue, (item) => void done.set(item, (done.get(item) ?? 0) + 1), { concurrency: 5 });
  });
  const [queue] = queues as [RedisQueue];
  await queue.addAll(numbered(300));
  await queue.whenIdle();
  const parts = await Promise.all(cluster.masters.map(async (master) => {
    return (await master.call("KEYS", `workqueue:{${name}#*:meta`) as string[]).length;
  }));
  assertEquals(parts.reduce((sum, count) => sum + count), 9);
  assert(parts.every((count) => count > 0), `${parts}`);

  // Items of the other nodes are worked on while the first is down, and all of them after its replica has taken over.
  const ranges = await first.call("CLUSTER", "SLOTS") as [number, number, [string, number]][];
  const isOnFirst = (partition: number) => {
    const slot = slotOf(`{${name}#${partition}}`);
    return ranges.some(([from, to, [, port]]) => slot >= from && slot <= to && port === first.port);
  };
  await first.kill("SIGKILL");
  const items = numbered(300, "after ");
  const adds = items.map((item) => queue.add(item));
  const isDone = (item: string) => done.has(item);
  await until(() => items.filter(isDone).length > 100);
  await Promise.all(adds);
  await queue.whenIdle();
  assertEquals(items.filter((item) => done.get(item) !== 1), []);
  assert(numbered(9, "").some((_, i) => isOnFirst(i)));
  for (const pool of pools) await pool.stop();
  for (const each of queues) await each.shutDownWithDrain();
});
