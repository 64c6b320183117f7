/**
 * Tests of items whose lease was lost: which process receives such an item, when, and which other items run alongside
 * it.
 */

import { assert, assertEquals } from "@std/assert";
import { defineLimiter, limiters, runWorkers, TokenBucket } from "@workqueue/core";
import { setTimeout as delay } from "node:timers/promises";
import { RedisProxy } from "../proxy.ts";
import { redisTest } from "../redis_tests.ts";
import { elsewhere, newQueue, open, QUICK, take, until } from "./faults.ts";

redisTest("an item whose old handler still runs in the process waits for the handler to end", async ({ url }) => {
  const { name, stored } = newQueue(url);
  await using proxy = await RedisProxy.start(url);
  await using opened = open(proxy.url, name, { leaseDuration: 500 });
  await using other = open(url, name, { leaseDuration: 500 });
  const tokens: (bigint | undefined)[] = [];
  const aborts: AbortSignal[] = [];
  let running = 0;
  let most = 0;
  const ends: (() => void)[] = [];
  const errors: string[] = [];
  const pool = runWorkers(opened.queue, async (_item, { token, signal }) => {
    tokens.push(token);
    aborts.push(signal);
    most = Math.max(most, ++running);
    await new Promise<void>((resolve) => ends.push(resolve));
    running--;
  }, { concurrency: 5, onError: (error) => errors.push(String(error)) });
  await opened.queue.add("a");
  await until(() => ends.length === 1);

  proxy.refuse();
  proxy.dropAll();
  const lease = await take(other.queue);
  await other.queue.add("a");
  assert(await lease.finish());
  proxy.refuse(false);
  await until(async () => String(await stored.call("HGET", "holders", "a")).includes(":"));
  await opened.queue.counts();
  assertEquals([tokens.length, aborts[0]!.aborted], [1, true]);
  assertEquals((await opened.queue.counts()).processing, 1);
  ends[0]!();
  await until(() => ends.length === 2);
  assert(tokens[1]! > lease.token && lease.token > tokens[0]!);
  ends[1]!();
  await opened.queue.whenIdle();
  assertEquals([most, errors.length], [1, 1]);
  await pool.stop();
});

redisTest("rule 15: a stalled item doesn't wait forever for processes that are never idle", async ({ url }) => {
  const { name, stored } = newQueue(url);
  await using one = open(url, name);
  await using two = open(elsewhere(url), name);
  const backlog = Array.from({ length: 20 }, (_, i) => `item ${i}`);
  let isOver = false;
  const beside: number[] = [];
  const pools = [one, two].map(({ queue }) => {
    let running = 0;
    return runWorkers(queue, async (item) => {
      running++;
      await delay(1);
      if (item === "suspect") beside.push(running);
      running--;
      if (!isOver && item !== "suspect") return { requeueAfter: 0.001 };
    }, { concurrency: 3 });
  });
  await one.queue.addAll(backlog);
  await stored.call("HSET", "stalls", "suspect", "2");
  await one.queue.add("suspect");
  await until(() => beside.length === 1);
  isOver = true;
  await one.queue.whenIdle();
  assertEquals(beside, [1]);
  for (const pool of pools) await pool.stop();
});

redisTest("rule 15: a stalled item waits for tokens if there are none, and then is processed", async ({ url }) => {
  const { name, stored } = newQueue(url);
  await using opened = open(url, name);
  const seen: string[] = [];
  await stored.call("HSET", "stalls", "suspect", "2");
  const pool = runWorkers(opened.queue, (item) => void seen.push(item), {
    throttle: new TokenBucket(10, 1),
    concurrency: 5,
  });
  await opened.queue.addAll(["a", "suspect", "b"]);
  await until(() => seen.length === 3);
  assertEquals(seen, ["a", "suspect", "b"]);
  await pool.stop();
});

redisTest("a drain waits for a retry that has to be sent twice", async ({ url }) => {
  const registry = limiters.extend().register(defineLimiter({
    type: "own",
    description: "A limiter of a user's.",
    options: {},
    create: () => ({
      when: () => 3_600_000,
      forget: () => {},
      numRequeues: () => 0,
      next: () => 3_600_000,
    }),
  }));
  const { name } = newQueue(url);
  await using other = open(url, name, { limiter: QUICK });
  const { queue, errors } = open(url, name, { limiter: { type: "own" } as never, limiters: registry });
  await other.queue.add("a");
  const lease = await take(queue);
  await other.queue.addRateLimited("a"); // the lease holder doesn't know about this failure
  const finished = lease.finish({ requeue: true });
  await queue.shutDownWithDrain();
  assertEquals([await finished, errors], [true, []]);
  assertEquals(await other.queue.numRequeues("a"), 2);
});
