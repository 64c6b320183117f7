/** Tests of redrives with queue objects. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { loadConfig, runWorkers, TerminalError } from "@workqueue/core";
import { createRedisQueue, type RedisQueue, redisQueues } from "@workqueue/redis";
import { FORMAT } from "../../packages/redis/scripts/format.ts";
import { newQueue, open, take, until } from "./faults/faults.ts";
import { RedisProxy } from "./proxy.ts";
import { redisTest, uniqueName } from "./redis_tests.ts";

/** Gives items up, in this order. */
async function giveUp(queue: RedisQueue, ...items: string[]): Promise<void> {
  const pool = runWorkers(queue, () => {
    throw new TerminalError("no");
  }, { onError() {} });
  await queue.addAll(items);
  await until(async () => (await queue.counts()).givenUp === items.length);
  await pool.stop();
}

const numbered = (count: number) => Array.from({ length: count }, (_, i) => `item ${i}`);

redisTest("redrive: a process without workers executes the steps of the redrive that it began", async ({ url }) => {
  await using opened = open(url, uniqueName("redrive"));
  const { queue } = opened;
  await giveUp(queue, ...numbered(500));
  await queue.redrive();
  await until(async () => (await queue.counts()).ready === 500); // counting takes no steps
  await queue.addAll(["x"]);
  const lease = await take(queue);
  await lease.finish({ giveUp: "no" });
  await queue.redrive({ rate: 1000, search: "item 0" });
  assertEquals(await queue.redriveProgress(), { redriven: 1, left: 0, running: false });
});

redisTest(
  "redrive: when a process shuts down, other processes see, continue and can stop its redrive",
  async ({ url }) => {
    const name = uniqueName("redrive");
    await using other = open(url, name);
    const { queue } = open(url, name);
    await giveUp(queue, ...numbered(5));
    assertEquals(await queue.redrive({ rate: 0.001 }), { redriven: 1, left: 4, running: true });
    await queue.shutDownWithDrain();
    await assertRejects(() => queue.redrive(), Error, "this queue object was shut down");
    await assertRejects(() => other.queue.redrive(), Error, "a redrive of this queue is running");
    assertEquals(await other.queue.redriveProgress(), { redriven: 1, left: 4, running: true });
    assertEquals(await other.queue.stopRedrive(), { redriven: 1, left: 4, running: false });
    assertEquals((await other.queue.redrive()).redriven, 4);
  },
);

redisTest("redrive: a call whose reply was lost is repeated, and begins the redrive once", async ({ url }) => {
  const { name } = newQueue(url);
  await using proxy = await RedisProxy.start(url);
  await using opened = open(proxy.url, name);
  const { queue } = opened;
  await giveUp(queue, "a", "b", "c");
  for (const selection of [{ keys: ["a", "b"] }, { search: "c" }]) {
    const lost = proxy.loseReply("0.001");
    const [begun] = await Promise.all([queue.redrive({ ...selection, rate: 0.001 }), lost]);
    assert(begun.redriven === 1, JSON.stringify(begun));
    await queue.stopRedrive();
  }
});

redisTest("redrive: keys that no item can have are ignored", async ({ url }) => {
  await using opened = open(url, uniqueName("redrive"));
  const { queue } = opened;
  await giveUp(queue, "a", "b");
  assertEquals(await queue.redrive({ keys: [1, null, "\ud800", "a"] }), { redriven: 1, left: 0, running: false });
  assertEquals(await queue.discard({ keys: [undefined, "\ud800", "c"] }), 0);
  assertEquals((await queue.givenUp()).items.map(({ key }) => key), ["b"]);
});

redisTest("given up: a search continues after the number of keys that one call checks", async ({ url, call }) => {
  const name = uniqueName("given-up");
  const prefix = `workqueue:{${name}}:`;
  const keys = ["needle", ...numbered(1100)];
  const entry = JSON.stringify(["no", null, "terminal", 1, "1"]);
  await call("HSET", `${prefix}meta`, "format", FORMAT);
  await call("ZADD", `${prefix}givenup`, ...keys.flatMap((key, i) => [`${i + 1}`, key]));
  await call("HSET", `${prefix}reasons`, ...keys.flatMap((key) => [key, entry]));
  await call("HSET", `${prefix}stalls`, ...keys.flatMap((key) => [key, "x0"]));
  await using opened = open(url, name);
  const { queue } = opened;
  assertEquals((await queue.givenUp({ search: "needle" })).items.map(({ key }) => key), ["needle"]);
  await queue.redrive({ search: "needle" });
  await until(async () => !(await queue.redriveProgress())!.running);
  assertEquals([(await queue.counts()).ready, (await queue.givenUp({ search: "item" })).total], [1, 1100]);
  assertEquals(await queue.discard({ search: "item" }), 1100);
});

redisTest(
  "redrive: the list of its keys is removed with it, or expires if the redrive never began",
  async ({ url, call }) => {
    const name = uniqueName("redrive");
    await using opened = open(url, name);
    const { queue } = opened;
    const lists = async () => {
      const keys = await call("KEYS", `workqueue:{${name}}:redrive:*`) as string[];
      return await Promise.all(keys.map(async (key) => Number(await call("TTL", key)) > 0));
    };
    await giveUp(queue, "a", "b", "c");
    await queue.redrive({ keys: ["a", "b"], rate: 0.001 });
    assertEquals(await lists(), [false]); // never expires
    await assertRejects(() => queue.redrive({ keys: ["c"] }), Error, "a redrive of this queue is running");
    assertEquals((await lists()).sort(), [false, true]);
    await queue.stopRedrive();
    assertEquals(await lists(), [true]);
  },
);

redisTest("given up: a reload of a config changes the limits, and so does the first call", async ({ url }) => {
  const name = uniqueName("given-up");
  const document = (keepGivenUp?: number | { max: number; maxAge: string }) => ({
    queues: { [name]: { ...keepGivenUp !== undefined && { keepGivenUp } } },
  });
  const config = loadConfig(document(5));
  await using queue = redisQueues(config, { url, onQueueError() {} }).queue(name);
  await giveUp(queue, ...numbered(5));
  const total = async () => (await queue.givenUp()).total;
  config.reload(document(3));
  await until(async () => await total() === 3);
  config.reload(document()); // changes nothing
  await using other = createRedisQueue({ name, url, keepGivenUp: 2 });
  assertEquals([await total(), (await other.counts()).givenUp, await total()], [3, 2, 2]);
  config.reload(document({ max: 9, maxAge: "1ms" }));
  await until(async () => await total() === 0);
  assertEquals((await queue.givenUp()).dropped, 5);
});
