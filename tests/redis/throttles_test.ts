/** Throttles other than buckets, which work in each process by itself. */

import { assert, assertEquals } from "@std/assert";
import { loadConfig, runWorkers } from "@workqueue/core";
import { createConcurrencyThrottle } from "@workqueue/core/throttles";
import { createRedisQueue, redisQueues } from "@workqueue/redis";
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

redisTest("throttles on Redis: a breaker of the config stops attempts, and lets them go on", async ({ url }) => {
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
