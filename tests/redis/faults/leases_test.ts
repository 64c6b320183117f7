/**
 * Tests of processes that receive their leases too late. No handler starts on a lost lease. Running handlers are
 * notified.
 */

import { assert, assertEquals } from "@std/assert";
import { runWorkers } from "@workqueue/core";
import { setTimeout as delay } from "node:timers/promises";
import { RedisProxy } from "../proxy.ts";
import { redisTest } from "../redis_tests.ts";
import type { RedisQueue } from "@workqueue/redis";
import { newQueue, open, take, until } from "./faults.ts";

redisTest("rule 15: a reply that comes after the lease has ended starts no handler", async ({ url }) => {
  const { name, stored } = newQueue(url);
  await using proxy = await RedisProxy.start(url);
  await using late = open(proxy.url, name, { leaseDuration: 400 });
  await using other = open(url, name, { leaseDuration: 400 });
  await listen(late.queue);
  await late.queue.addAll(["a", "b"]);
  proxy.holdReplies();
  const begun: [item: string, token: bigint][] = [];
  const pool = runWorkers(late.queue, (item, { token, signal }) => {
    assert(!signal.aborted);
    begun.push([item, token!]);
  }, { concurrency: 5 });
  await until(async () => await stored.call("HLEN", "holders") === 2);
  // Once the lease of the pool's process has ended, the other process receives the items.
  for (let i = 0; i < 2; i++) assert(await (await take(other.queue)).finish());
  assertEquals(begun, []);
  proxy.holdReplies(false);
  await late.queue.add("c");
  await until(() => begun.some(([item]) => item === "c"));
  await other.queue.whenIdle();
  assertEquals(begun.map(([item]) => item), ["c"]);
  assertEquals(await stored.stalls(), 0);
  await pool.stop();
});

redisTest(
  "leases: a late reply to the only process starts no handler, and its items come back",
  async ({ url }) => {
    const { name, stored } = newQueue(url);
    await using proxy = await RedisProxy.start(url);
    await using late = open(proxy.url, name, { leaseDuration: 200 });
    await listen(late.queue);
    await late.queue.addAll(["a", "b"]);
    proxy.holdReplies();
    const tokens: bigint[] = [];
    const pool = runWorkers(late.queue, (_, { token }) => void tokens.push(token!), { concurrency: 5 });
    await until(async () => await stored.call("HLEN", "holders") === 2);
    const first = (await stored.call("HVALS", "holders") as string[]).map((holder) => BigInt(holder.match(/\d+/)![0]));
    await delay(250); // longer than the lease
    proxy.holdReplies(false);
    await late.queue.whenIdle();
    assertEquals(tokens.length, 2);
    for (const token of tokens) assert(!first.includes(token), "each began with a new lease");
    await pool.stop();
  },
);

redisTest(
  "rule 15: if the event loop was blocked for longer than a lease, no handler of its items begins",
  async ({ url }) => {
    const { name } = newQueue(url);
    await using opened = open(url, name, { leaseDuration: 200 });
    const begun = new Map<string, bigint>();
    let running: AbortSignal | undefined;
    const end = Promise.withResolvers<void>();
    const pool = runWorkers(opened.queue, async (item, { token, signal }) => {
      if (item === "running") {
        running = signal;
        await end.promise;
      } else if (item === "blocks" && begun.size === 0) {
        const until = performance.now() + 500;
        while (performance.now() < until);
      }
      begun.set(item, token!);
    }, { concurrency: 10, onError() {} });
    await opened.queue.add("running");
    await until(() => running !== undefined);
    await opened.queue.addAll(["blocks", "b", "c", "d"]);
    await until(() => begun.size > 0);
    await until(() => running!.aborted);
    await until(() => begun.size === 4);
    for (const item of ["b", "c", "d"]) {
      assert(begun.get(item)! > begun.get("blocks")! + 3n, "not with the lease of then");
    }
    end.resolve();
    await opened.queue.whenIdle();
    await pool.stop();
  },
);

/**
 * Waits until a process can receive messages. After that, the first call that the process makes is the one that takes
 * items.
 */
async function listen(queue: RedisQueue): Promise<void> {
  await queue.add("first");
  assert(await (await take(queue)).finish());
}
