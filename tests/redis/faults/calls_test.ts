/** Tests of the number of calls to the server: processes don't call when there is no work. */

import { assert, assertEquals } from "@std/assert";
import { runWorkers, TokenBucket } from "@workqueue/core";
import { RedisServer } from "../server.ts";
import { serverTest } from "../redis_tests.ts";
import { countCalls, elsewhere, newQueue, open, until } from "./faults.ts";

serverTest("idle processes are woken one by one, so there are as many calls as items", async () => {
  await using server = await RedisServer.start();
  const { name } = newQueue(server.url);
  await using producer = open(server.url, name);
  await using one = open(elsewhere(server.url), name);
  await using two = open(elsewhere(server.url), name);
  let done = 0;
  const pools = [one, two].map(({ queue }) => runWorkers(queue, () => void done++, { concurrency: 10 }));
  await producer.queue.add("first");
  await until(() => done === 1);
  const before = await countCalls(server.url);
  const items = 1000;
  for (let i = 0; i < items; i++) {
    await producer.queue.add(`item ${i}`);
    if (i % 10 === 0) await until(() => done === i + 2); // a process takes the items when notified, if not before
  }
  await until(() => done === items + 1);
  const calls = await countCalls(server.url) - before;
  // Each item needs at most four calls: add, take, finish, and one for a notification that was already on its way.
  assert(calls <= 4 * items, `${calls} calls for ${items} items`);
  for (const pool of pools) await pool.stop();
  assertEquals([producer.errors, one.errors, two.errors], [[], [], []]);
});

serverTest("idle queues make no calls, whatever they contain", async () => {
  await using server = await RedisServer.start();
  const { url } = server;
  await using stack = new AsyncDisposableStack();
  const time = async () => {
    const [seconds, micros] = await server.call("TIME") as [string, string];
    return Number(seconds) * 1e6 + Number(micros);
  };
  const LATER = 3_600_000_000;
  let queues = 0;
  for (const waiting of [false, true]) {
    for (const holds of ["nothing", "a living owner's", "a dead owner's"]) {
      for (const suspect of [false, true]) {
        for (const throttle of [undefined, new TokenBucket(0.001, 1)]) {
          const { name, stored } = newQueue(url);
          const opened = stack.use(open(url, name));
          opened.history.ignore();
          const now = await time();
          if (waiting) await stored.call("ZADD", "delayed", String(now + LATER), "delayed");
          if (holds !== "nothing") {
            const token = String(now - 1);
            await stored.call("HSET", "holders", "processing", `-${token}:other.0`);
            await stored.call("SADD", "held:other.0", "processing");
            await stored.call("ZADD", "owners", String(holds === "a dead owner's" ? now - 1 : now + LATER), "other.0");
          }
          if (suspect) {
            await stored.call("HSET", "stalls", "suspect", "2");
            await stored.call("ZADD", "suspects", String(now), "suspect");
          }
          const begun = Promise.withResolvers<void>();
          stack.defer(begun.resolve);
          const options = { concurrency: 5, ...throttle && { throttle } };
          const pool = runWorkers(opened.queue, () => begun.promise, options);
          stack.defer(() => {
            begun.resolve();
            pool.stop();
          });
          if (throttle !== undefined) await opened.queue.addAll(["one", "two"]);
          queues++;
        }
      }
    }
  }
  const settled = await time() + 300_000;
  await until(async () => await time() > settled);
  const before = await countCalls(url);
  const end = await time() + 1_500_000;
  await until(async () => await time() > end);
  const calls = await countCalls(url) - before;
  assert(calls <= 3 * queues, `${calls} calls of ${queues} queues in 1.5 seconds`);
});
