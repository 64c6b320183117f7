/** Tests of given-up items on the server: each is stored once, with the reason. */

import { assertEquals, assertFalse } from "@std/assert";
import { InMemoryMetrics, runWorkers } from "@workqueue/core";
import { createRedisQueue, type RedisLease, type RedisQueue } from "@workqueue/redis";
import { RedisProxy } from "./proxy.ts";
import { redisTest, type SharedServer, uniqueName } from "./redis_tests.ts";

interface Item {
  readonly key: string;
}

interface Poisoned extends Pick<SharedServer, "call"> {
  readonly name: string;
  readonly metrics: InMemoryMetrics;
  /** Queue in another process, which detects that the item's holder was lost. */
  readonly other: RedisQueue<Item>;
}

/**
 * Registers a test in which "poison" is given up. The process that runs "poison" runs no other item, and loses its
 * connection.
 */
function poisonTest(title: string, run: (poisoned: Poisoned) => Promise<void>): void {
  redisTest(title, async ({ url, call }) => {
    await using proxy = await RedisProxy.start(url);
    const name = uniqueName("queue");
    const metrics = new InMemoryMetrics();
    const open = (url: string) =>
      createRedisQueue<Item>({
        ...{ name, url, leaseDuration: "100ms", maxStalls: 1, metrics, keyOf: ({ key }) => key },
        onQueueError: () => {},
      });
    const holder = open(proxy.url);
    const other = open(url);
    // "poison" has stalled twice, so no other item runs alongside it.
    await call("HSET", `workqueue:{${name}}:stalls`, "poison", "2");
    await holder.add({ key: "poison" });
    const lost = await holder.get() as RedisLease<Item>;
    proxy.hold(); // the holder's renewals don't reach the server

    await run({ name, metrics, other, call });

    proxy.hold(false);
    assertFalse(await lost.finish());
    await Promise.all([holder, other].map((queue) => queue.shutDownWithDrain()));
  });
}

poisonTest(
  "given up: an item that has stalled too often is kept with the reason, and nowhere else",
  async ({ name, other, call }) => {
    const waiting = other.get();
    while ((await other.counts()).givenUp === 0);
    const prefix = `workqueue:{${name}}:`;
    assertEquals(await call("HGETALL", `${prefix}items`), []);
    const { items: [given], total } = await other.givenUp();
    const { item, error, reason, attempts } = given!;
    assertEquals([item, error, reason, attempts, total], [
      { key: "poison" },
      "Each of its holders was lost: 3",
      "stalled",
      3,
      1,
    ]);

    await other.add({ key: "poison" });
    const lease = await waiting as RedisLease<Item>;
    assertEquals(lease.item, { key: "poison" });
    await lease.finish();
    assertEquals(await call("HGETALL", `${prefix}reasons`), []);
  },
);

poisonTest(
  "given up: one pool receives an item whose holders were lost, and counts it as stalled",
  async ({ name, metrics, other }) => {
    const reported: unknown[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const pools = ["one", "two"].map((pool) =>
      runWorkers(other, () => {}, {
        onError: (error) => reported.push(String(error)),
        onGiveUp(error, item, attempts, reason) {
          reported.push([pool, String(error), item, attempts, reason]);
          resolve();
        },
      })
    );
    await promise;
    const error = 'Error: "poison" is given up, as each process that worked on it was lost';
    assertEquals(reported, [["one", error, { key: "poison" }, 3, "stalled"]]);
    assertEquals(metrics.value("workqueue_given_up_total", name, "stalled"), 1);
    assertEquals(metrics.value("workqueue_given_up_total", name), 1);
    assertEquals((await other.snapshot()).totals.givenUpFor.stalled, 1);
    await Promise.all(pools.map((pool) => pool.stop()));
  },
);
