/** Test of the order of items within a group, in a queue with partitions whose replies come late at times. */

import { assertEquals } from "@std/assert";
import { runWorkers } from "@workqueue/core";
import { setTimeout as delay } from "node:timers/promises";
import { open, until } from "./faults/faults.ts";
import { seeded } from "./faults/seeded.ts";
import { RedisProxy } from "./proxy.ts";
import { redisTest, uniqueName } from "./redis_tests.ts";

const GROUPS = 5;
const ITEMS = 300;
const discipline = { type: "fair", separator: "/" } as const;
const groupOf = (item: string) => item.split("/", 1)[0]!;

for (const partitions of [2, 8, 64]) {
  redisTest(
    `partitions: items of a group are handed out in order, with ${partitions} and late replies`,
    async (server) => {
      const name = uniqueName("order");
      const random = seeded(partitions);
      const options = { partitions, discipline };
      const started: { item: string; token: bigint }[] = [];
      await using stack = new AsyncDisposableStack();
      const producer = stack.use(open(server.url, name, options));
      let isOver = false;
      const consumers = await Promise.all([1, 2, 3].map(async () => {
        const proxy = stack.use(await RedisProxy.start(server.url));
        const opened = stack.use(open(proxy.url, name, { ...options, callTimeout: "1m" }));
        const pool = runWorkers(opened.queue, async (item, { token }) => {
          started.push({ item, token: token! });
          await delay(10 * random());
        }, { concurrency: 3 });
        const delaying = (async () => {
          while (!isOver) {
            proxy.holdReplies();
            await delay(300 * random());
            proxy.holdReplies(false);
            await delay(50 * random());
          }
        })();
        return { opened, pool, delaying };
      }));
      let added = 0;
      while (added < ITEMS) {
        await producer.queue.addAll(Array.from({ length: 6 }, () => `g${added % GROUPS}/${1000 + added++}`));
        await delay(10);
      }
      await until(() => started.length >= ITEMS);
      isOver = true;
      for (const { delaying } of consumers) await delaying;
      await producer.queue.whenIdle();
      for (const { pool } of consumers) await pool.stop();
      started.sort((one, other) => one.token < other.token ? -1 : 1);
      for (let group = 0; group < GROUPS; group++) {
        const inGroup = started.map(({ item }) => item).filter((item) => groupOf(item) === `g${group}`);
        assertEquals(inGroup, inGroup.toSorted());
      }
      assertEquals([...producer.errors, ...consumers.flatMap(({ opened }) => opened.errors)], []);
      for (const history of producer.histories) history.check({ isComplete: true, groupOf, order: { groupOf } });
    },
  );
}
