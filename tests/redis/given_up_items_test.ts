/** What the server keeps of items that were given up: once, with the reason. */

import { assertEquals, assertFalse } from "@std/assert";
import { createRedisQueue, type RedisLease } from "@workqueue/redis";
import { RedisProxy } from "./proxy.ts";
import { redisTest, uniqueName } from "./redis_tests.ts";

redisTest(
  "given up: an item that has lapsed too often is kept with the reason, and nowhere else",
  async ({ url, call }) => {
    await using proxy = await RedisProxy.start(url);
    const name = uniqueName("queue");
    const open = (url: string) =>
      createRedisQueue<{ key: string }>({
        name,
        url,
        lease: "100ms",
        maxLapses: 1,
        keyOf: ({ key }) => key,
        onError: () => {},
      });
    const holder = open(proxy.url);
    const other = open(url);
    await holder.add({ key: "poison" });
    const lost = await holder.get() as RedisLease<{ key: string }>;
    proxy.hold(); // its renewals reach nobody

    const waiting = other.get();
    while ((await other.stats()).givenUp === 0);
    const prefix = `workqueue:{${name}}:`;
    assertEquals(await call("HGETALL", `${prefix}items`), []);
    assertEquals(
      await call("HGET", `${prefix}reasons`, "poison"),
      '["Each of its holders was lost: 1","{\\"key\\":\\"poison\\"}"]',
    );

    await other.add({ key: "poison" });
    const lease = await waiting as RedisLease<{ key: string }>;
    assertEquals(lease.item, { key: "poison" });
    await lease.finish();
    assertEquals(await call("HGETALL", `${prefix}reasons`), []);

    proxy.hold(false);
    assertFalse(await lost.finish());
    await Promise.all([holder, other].map((queue) => queue.shutDownWithDrain()));
  },
);
