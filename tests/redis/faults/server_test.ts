/**
 * Tests of servers that are killed, are restored from an old snapshot, are stopped for a while, lose their scripts, or
 * run out of memory.
 */

import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "@std/assert";
import { runWorkers } from "@workqueue/core";
import { RedisConnectionError } from "@workqueue/redis";
import { setTimeout as delay } from "node:timers/promises";
import { RedisProxy } from "../proxy.ts";
import { redisTest, serverTest } from "../redis_tests.ts";
import { RedisServer } from "../server.ts";
import { serverAway } from "./away.ts";
import { workWithoutReplicas } from "./replicas.ts";
import { aborted, elsewhere, newQueue, open, take, until } from "./faults.ts";

serverTest("server away for longer than the lease, in each way: no process loses its items", async () => {
  // The lease is long enough for a client that tries to reconnect about once a second, even on a busy machine.
  await Promise.all(
    (["kill", "stop", "network", "replicas"] as const).map((how) =>
      serverAway({ how, leaseDuration: 6000, away: 7000 })
    ),
  );
});

serverTest("server killed, with an append-only file: no acknowledged call is lost", async () => {
  await using server = await RedisServer.start({ appendonly: true });
  const { name, stored } = newQueue(server.url);
  await using consumer = open(elsewhere(server.url), name, { callTimeout: "1m" });
  await using producer = open(server.url, name, { callTimeout: "1m" });
  const begun = new Map<string, number>();
  const pool = runWorkers(consumer.queue, async (item) => {
    begun.set(item, (begun.get(item) ?? 0) + 1);
    await delay(1);
  }, { concurrency: 5 });
  const added: string[] = [];
  for (let round = 0; round < 3; round++) {
    const adds = Array.from({ length: 100 }, async (_, i) => {
      await producer.queue.add(`${round}/${i}`);
      added.push(`${round}/${i}`);
    });
    await until(() => begun.size > round * 100 + 5); // in the middle of the work
    await server.restart();
    await Promise.all(adds);
  }
  await producer.queue.whenIdle();
  assertEquals([...begun.keys()].sort(), added.sort());
  assertEquals([await stored.stalls(), consumer.errors, producer.errors], [0, [], []]);
  await pool.stop();
});

serverTest(
  "too few replicas for writes, again and again: each item runs once, and nothing is reported to onQueueError",
  async () => {
    await workWithoutReplicas({ seed: 1, items: 100, times: 3 });
  },
);

serverTest(
  "too few replicas for longer than the call timeout: the outcome is reported as failed, and the item comes again",
  async () => {
    await using server = await RedisServer.start();
    const { name, stored } = newQueue(server.url);
    await using opened = open(server.url, name, { callTimeout: 2000 });
    await opened.queue.add("a");
    const lease = await take(opened.queue);
    await server.call("CONFIG", "SET", "min-replicas-to-write", "1");
    const error = await assertRejects(() => lease.finish(), RedisConnectionError);
    assertEquals(opened.errors, [error]);
    // The timeout may end while the call is repeated. Then nobody knows yet that the server will refuse it once more.
    assertMatch(error.message, error.mayHaveRun ? /did not answer within 2 s/ : /NOREPLICAS/);
    await server.call("CONFIG", "SET", "min-replicas-to-write", "0");
    const again = await take(opened.queue);
    assertEquals([again.item, again.attempt, await stored.stalls(), await again.finish()], ["a", 1, 0, true]);
    assertEquals(opened.errors, [error]);
  },
);

serverTest("an older snapshot is restored: tokens grow, and holders of unknown leases are notified", async () => {
  await using server = await RedisServer.start();
  const { name } = newQueue(server.url);
  await using early = open(server.url, name);
  await using late = open(elsewhere(server.url), name);
  late.history.ignore();
  await early.queue.addAll(["a", "b"]);
  const first = await take(early.queue);
  await server.call("SAVE");
  await first.finish();
  const second = await take(early.queue);
  assertEquals(second.item, "b");
  await server.restart(); // in the restored snapshot, "b" is ready

  const leases = [await take(late.queue), await take(late.queue)];
  await aborted(second.signal);
  // "a" was finished after the snapshot was taken, so in the restored snapshot it is still processing.
  assertEquals(leases.map(({ item }) => item).sort(), ["a", "b"]);
  for (const { token } of leases) assert(token > second.token);
  assertEquals(await second.finish(), false);
  for (const lease of leases) assert(await lease.finish());
  assertEquals(early.errors.length, 1);
});

serverTest("memory full: adds reject, stored items are processed, and later adds work again", async () => {
  await using server = await RedisServer.start();
  const { name, stored } = newQueue(server.url);
  await using opened = open(server.url, name, { leaseDuration: "1s" });
  const { queue, errors } = opened;
  await queue.addAll(["a", "b"]);
  const processing = await take(queue);
  await server.call("CONFIG", "SET", "maxmemory", "1");
  for (const add of [() => queue.add("c"), () => queue.addAfter("c", 1), () => queue.addRateLimited("c")]) {
    const error = await assertRejects(add, Error);
    assertStringIncludes(error.message, "maxmemory");
  }
  assertEquals(errors.length, 3);
  const end = () => stored.call("ZRANGE", "owners", "0", "0", "WITHSCORES").then((found) => (found as string[])[1]);
  const before = await end();
  await until(async () => await end() !== before); // wait until the lease is renewed
  const other = await take(queue);
  assertEquals([await processing.finish({ requeue: true }), await other.finish()], [true, true]);
  const again = await take(queue);
  assertEquals([again.item, again.attempt, await queue.numRequeues("a")], ["a", 2, 1]);
  assert(await again.finish());
  await server.call("CONFIG", "SET", "maxmemory", "0");
  await queue.add("c");
  assertEquals((await queue.counts()).ready, 1);
  assertEquals(errors.length, 3);
});

redisTest("scripts that are flushed all the time: each item is done once", async ({ url, call }) => {
  const { name } = newQueue(url);
  await using opened = open(url, name);
  const done = new Map<string, number>();
  await using pool = runWorkers(opened.queue, async (item) => {
    await call("SCRIPT", "FLUSH");
    done.set(item, (done.get(item) ?? 0) + 1);
  }, { concurrency: 10 });
  const items = Array.from({ length: 200 }, (_, i) => `item ${i}`);
  for (const item of items) opened.queue.add(item);
  await until(() => done.size === items.length);
  assertEquals([...done.values()], items.map(() => 1));
  assertEquals(opened.errors, []);
  await pool.stop();
});

redisTest("the server away for longer than the call timeout: reported once, and no stall", async ({ url }) => {
  const { name, stored } = newQueue(url);
  await using proxy = await RedisProxy.start(url);
  await using opened = open(proxy.url, name, { callTimeout: 2000 }); // enough for the first calls on a busy machine
  await using other = open(url, name);
  const { queue, errors } = opened;
  await queue.addAll(["a", "b"]);
  const [a, b] = [await take(queue), await take(queue)];
  proxy.refuse();
  proxy.dropAll();
  const calls = [a.finish({ requeue: true }), queue.add("c"), queue.counts()];
  const results = await Promise.allSettled(calls);
  assertEquals(results.map(({ status }) => status), calls.map(() => "rejected"));
  await assertRejects(() => a.finish()); // rejects, as the first call of `finish` did
  assertEquals(errors.length, 3);
  proxy.refuse(false);

  const again = await take(other.queue);
  assertEquals([again.item, again.attempt], ["a", 1]);
  assert(again.token > b.token);
  assertEquals(await stored.stalls(), 0);
  assert(await b.finish());
  assert(await again.finish());
  assertEquals(errors.length, 3);
});

serverTest("no answer: each outcome is reported within one call timeout, and a drain within two", async () => {
  await using server = await RedisServer.start();
  const { name } = newQueue(server.url);
  const timeout = 1500;
  const margin = 1400; // less than another timeout
  let lag = 0; // longest time for which a busy machine has kept this process from a timer of 10 ms
  let beat = performance.now();
  const beats = setInterval(() => {
    lag = Math.max(lag, performance.now() - beat);
    beat = performance.now();
  }, 10);
  await using opened = open(server.url, name, { callTimeout: timeout, onQueueError() {} });
  const items = Array.from({ length: 300 }, (_, i) => `item ${i}`);
  const ended = new Map<string, number>();
  const waits = new Map<string, number>();
  const stopped = Promise.withResolvers<void>();
  const pool = runWorkers(opened.queue, async (item) => {
    await stopped.promise;
    await delay(10 + Math.random() * 800);
    ended.set(item, performance.now());
  }, {
    concurrency: items.length,
    onError: (error, item) => {
      assert(error instanceof RedisConnectionError, String(error));
      waits.set(item, performance.now() - ended.get(item)!);
    },
  });
  await opened.queue.addAll(items);
  await until(() => pool.active === items.length);
  await server.kill("SIGSTOP");
  stopped.resolve();
  await opened.queue.shutDownWithDrain();
  const drain = performance.now() - Math.max(...ended.values());
  await pool.finished;
  clearInterval(beats);
  const [shortest, longest] = [Math.min(...waits.values()), Math.max(...waits.values())];
  assertEquals(waits.size, items.length);
  assert(shortest > timeout - 50, `an outcome was reported after ${shortest} ms`);
  assert(longest < timeout + margin + lag, `an outcome was reported after ${longest} ms, with a lag of ${lag} ms`);
  assert(drain < 2 * timeout + margin + lag, `the drain ended ${drain} ms after the last handler`);
});

serverTest("no answer for less than the call timeout: each outcome counts once", async () => {
  await using server = await RedisServer.start();
  const { name, stored } = newQueue(server.url);
  await using opened = open(server.url, name, { callTimeout: "30s" });
  await using other = open(elsewhere(server.url), name);
  const items = Array.from({ length: 300 }, (_, i) => `item ${i}`);
  const runs = new Map<string, number>();
  const stopped = Promise.withResolvers<void>();
  const pool = runWorkers(opened.queue, async (item) => {
    runs.set(item, (runs.get(item) ?? 0) + 1);
    await stopped.promise;
    await delay(Math.random() * 800);
    if (runs.get(item) === 1) throw new Error("again");
  }, { concurrency: 400, onError() {}, maxRetries: 1 });
  await opened.queue.addAll(items);
  await until(() => pool.active === items.length);
  await server.kill("SIGSTOP");
  stopped.resolve();
  await delay(1200); // the outage to test
  await server.kill("SIGCONT");
  await other.queue.whenIdle();
  assertEquals([...runs.values()], items.map(() => 2));
  assertEquals([await stored.stalls(), opened.errors], [0, []]);
  await pool.stop();
});

serverTest("outcomes sent while a call has no answer: an idle process is notified again afterwards", async () => {
  await using server = await RedisServer.start();
  const { name, stored } = newQueue(server.url);
  await using opened = open(server.url, name, { callTimeout: "30s" });
  await using other = open(elsewhere(server.url), name);
  const ends: Record<string, PromiseWithResolvers<void>> = {
    one: Promise.withResolvers(),
    two: Promise.withResolvers(),
    late: Promise.withResolvers(),
  };
  const pool = runWorkers(opened.queue, (item) => ends[item]!.promise, { concurrency: 10 });
  await opened.queue.addAll(["one", "two"]);
  await until(async () => pool.active === 2 && await stored.call("ZCARD", "idle") === 1);
  await server.kill("SIGSTOP");
  ends["one"]!.resolve();
  await delay(20); // the call that reports this outcome also asks for work
  ends["two"]!.resolve();
  await delay(300);
  await server.kill("SIGCONT");
  await other.queue.whenIdle();
  await delay(100);
  const addedAt = performance.now();
  await other.queue.add("late");
  await until(() => pool.active === 1);
  const late = performance.now() - addedAt;
  assert(late < 4000, `taken after ${late} ms, as without a notification`); // the next look comes after 5 s
  ends["late"]!.resolve();
  await other.queue.whenIdle();
  assertEquals(opened.errors, []);
  await pool.stop();
});

redisTest("the connection for messages is cut: items added meanwhile are found", async ({ url, call }) => {
  const { name } = newQueue(url);
  await using opened = open(url, name);
  await using other = open(elsewhere(url), name);
  for (let i = 0; i < 5; i++) {
    const next = take(opened.queue);
    await call("CLIENT", "KILL", "TYPE", "pubsub");
    await other.queue.add(`item ${i}`);
    assert(await (await next).finish());
  }
  assertEquals(opened.errors, []);
});
