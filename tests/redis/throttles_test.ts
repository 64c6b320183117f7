/** Throttles other than buckets, which work in each process by itself. */

import { assert, assertEquals } from "@std/assert";
import { adaptThrottle, loadConfig, runWorkers, type Throttle } from "@workqueue/core";
import { createConcurrencyThrottle } from "@workqueue/core/throttles";
import { createRedisQueue, redisQueues } from "@workqueue/redis";
import { setTimeout as delay } from "node:timers/promises";
import { countCalls, open, take, until } from "./faults/faults.ts";
import { RedisProxy } from "./proxy.ts";
import { redisTest, uniqueName } from "./redis_tests.ts";

redisTest("throttles on Redis: pools of a process share a limit, and work through their queues", async ({ url }) => {
  const throttle = createConcurrencyThrottle({ limit: 3 });
  let [running, most] = [0, 0];
  const done: string[] = [];
  const queues = [1, 2].map(() => createRedisQueue<string>({ name: uniqueName("throttled"), url }));
  const pools = queues.map((queue) =>
    runWorkers(queue, async (item) => {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 5));
      running--;
      done.push(item);
    }, { throttle, concurrency: 5 })
  );
  const items = Array.from({ length: 30 }, (_, i) => `item ${i}`);
  for (const queue of queues) await queue.addAll(items);
  for (const queue of queues) await queue.whenIdle();
  assertEquals(done.sort(), [...items, ...items].sort());
  assert(most <= 3, `${most} at once`);
  assertEquals(throttle.snapshot!().inUse, 0);
  for (const queue of queues) await queue.shutDownWithDrain();
  await Promise.all(pools.map((pool) => pool.finished));
});

redisTest("throttles on Redis: a breaker of the config stops attempts, and lets them start again", async ({ url }) => {
  const name = uniqueName("throttled");
  const config = loadConfig({
    queues: {
      [name]: {
        concurrency: 4,
        limiter: { type: "exponential", baseDelay: 1, maxDelay: 1 },
        throttle: { type: "breaker", minAttempts: 3, openFor: 100 },
      },
    },
  });
  const queue = redisQueues(config, { url }).queue<string>(name);
  let attempts = 0;
  const pool = config.runWorkers(name, queue, () => {
    if (++attempts <= 3) throw new Error("down");
  }, { onError() {} });
  await queue.addAll(["a", "b", "c", "d", "e"]);
  await queue.whenIdle();
  assertEquals(attempts, 8);
  await queue.shutDownWithDrain();
  await pool.finished;
});

redisTest("rule 15: an item that waits for a permit does not begin once its lease is lost", async ({ url }) => {
  await using proxy = await RedisProxy.start(url);
  const name = uniqueName("throttled");
  await using cut = open(proxy.url, name, { leaseDuration: 300 });
  await using other = open(url, name, { leaseDuration: 300 });
  let mayBegin = false;
  let tell = () => {};
  let asked = 0;
  const throttle = adaptThrottle<Throttle>({
    acquire() {
      asked++;
      return mayBegin ? { begin() {}, charge() {}, end() {} } : Infinity;
    },
    onChange(callback) {
      tell = callback;
      return () => {};
    },
  });
  const begun: [token: bigint, isLost: boolean][] = [];
  const pool = runWorkers(cut.queue, (_, { token, signal }) => void begun.push([token!, signal.aborted]), { throttle });
  await cut.queue.add("a");
  await until(() => asked > 0);
  proxy.hold();
  const lease = await take(other.queue); // the lease of the pool's process has ended
  mayBegin = true;
  tell();
  await delay(20);
  assertEquals(begun, []);
  proxy.hold(false);
  await lease.finish({ requeue: true });
  await until(() => begun.length > 0);
  assertEquals(begun.map(([, isLost]) => isLost), [false]);
  assert(begun[0]![0] > lease.token);
  await pool.stop();
});

redisTest("throttles on Redis: a pool takes as many items in one call as its throttle allows", async ({ url }) => {
  const name = uniqueName("throttled");
  await using opened = open(url, name);
  const { queue } = opened;
  const throttle = createConcurrencyThrottle({ limit: 20 });
  let count = 0;
  const handler = () => Promise.resolve().then(() => void count++);
  const pool = runWorkers(queue, handler, { throttle, concurrency: 50 });
  pool.pause();
  await queue.addAll(Array.from({ length: 1000 }, (_, i) => `${i}`));
  const before = await countCalls(url);
  pool.resume();
  await until(() => count === 1000);
  const calls = await countCalls(url) - before;
  assert(calls <= 200, `${calls} calls`);
  await pool.stop();
});
