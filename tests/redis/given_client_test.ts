/**
 * Tests of clients that the user passes. All supported clients behave alike. Any other client is refused with a reason.
 */

import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { createClient, createClientPool, createCluster, createSentinel } from "@redis/client";
import { Cluster, Redis } from "ioredis";
import { Redis as OldestRedis } from "ioredis-oldest";
import { createClient as createOldestClient } from "redis-client-oldest";
import { delay } from "@std/async";
import { connect } from "../../packages/redis/connection/connect.ts";
import type { RedisClient } from "../../packages/redis/connection/connection.ts";
import { RedisConnectionError } from "../../packages/redis/connection/errors.ts";
import { createScript } from "../../packages/redis/connection/script.ts";
import { RedisProxy } from "./proxy.ts";
import { redisTest, uniqueName } from "./redis_tests.ts";

const PUSH = createScript(`return redis.call("RPUSH", KEYS[1], ARGV[1] .. ARGV[#ARGV])`);
const ECHO = createScript(`return { KEYS[1], ARGV[1], ARGV[2], 7, false, { "nested", 1.5 } }`);

const NO_RESEND = { autoResendUnfulfilledCommands: false };

/**
 * Functions for the kinds of clients. Each function creates and connects a client, and returns it together with a
 * function that closes it.
 */
const CLIENTS: Record<string, (url: string) => Promise<{ client: RedisClient; close: () => unknown }>> = {
  "node-redis": async (url) => {
    const client = createClient({ url });
    await client.connect();
    return { client, close: () => client.destroy() };
  },
  "node-redis, with options": async (url) => {
    const client = createClient({ url, RESP: 2, disableOfflineQueue: true, pingInterval: 1000 });
    const typed = client.withTypeMapping({ [36]: Buffer });
    await typed.connect();
    return { client: typed, close: () => client.destroy() };
  },
  "node-redis 5": async (url) => {
    const client = createOldestClient({ url });
    await client.connect();
    return { client, close: () => client.destroy() };
  },
  "ioredis": (url) => {
    const client = new Redis(url, NO_RESEND);
    return Promise.resolve({ client, close: () => client.disconnect() });
  },
  "ioredis, with options": (url) => {
    const client = new Redis(url, { ...NO_RESEND, lazyConnect: true, protocol: 2, enableOfflineQueue: false });
    return Promise.resolve({ client, close: () => client.disconnect() });
  },
  "ioredis 5": (url) => {
    const client = new OldestRedis(url, NO_RESEND);
    return Promise.resolve({ client, close: () => client.disconnect() });
  },
};

for (const [name, create] of Object.entries(CLIENTS)) {
  redisTest(`${name}: calls run in order, and replies are the same as with a URL`, async ({ url, call }) => {
    const { client, close } = await create(url);
    const connection = connect("connect", { client });
    assertEquals(connection.address, new URL(url).host);
    const key = uniqueName("list");
    const calls = [1, 2, 3].map((i) => connection.run(PUSH, key, [i], { retry: "marked" }));
    assertEquals(await Promise.all(calls), [1, 2, 3]);
    assertEquals(await call("LRANGE", key, "0", "-1"), ["10", "20", "30"]);
    assertEquals(await connection.run(ECHO, "key", ["a", 2]), ["key", "a", "2", 7, null, ["nested", 1]]);
    await call("SCRIPT", "FLUSH");
    assertEquals(await connection.run(PUSH, key, [4]), 4);
    await call("SET", key, "no list");
    await assertRejects(() => connection.run(PUSH, key, [5], { retry: "always" }), Error, "WRONGTYPE");
    await connection.release();
    close();
  });

  redisTest(`${name}: a reply is lost`, async ({ url, call }) => {
    await using proxy = await RedisProxy.start(url);
    const { client, close } = await create(proxy.url);
    const connection = connect("connect", { client });
    const key = uniqueName("list");
    let reconnected = 0;
    connection.onReconnect(key, () => reconnected++);
    await connection.run(PUSH, key, ["first"], { retry: "marked" });
    for (const retry of ["marked", "never"] as const) {
      const lost = proxy.loseReply(retry);
      const answer = connection.run(PUSH, key, [retry], { retry });
      await lost;
      if (retry === "marked") await answer;
      else assert((await assertRejects(() => answer, RedisConnectionError)).mayHaveRun);
    }
    await connection.run(PUSH, key, ["last"], { retry: "marked" });
    assertEquals(reconnected, 2);
    const items = await call("LRANGE", key, "0", "-1");
    assertEquals(items, ["first0", "marked0", "marked1", "nevernever", "last0"]);
    await connection.release();
    close();
  });

  redisTest(`${name}: a call that was not sent when the connection broke is sent once`, async ({ url, call }) => {
    await using proxy = await RedisProxy.start(url);
    const { client, close } = await create(proxy.url);
    const connection = connect("connect", { client });
    const key = uniqueName("list");
    await connection.run(PUSH, key, ["first"], { retry: "always" });
    proxy.hold();
    const large = "x".repeat(1_000_000); // too long to be sent while the server reads nothing
    const calls = Array.from({ length: 20 }, () => connection.run(PUSH, key, [large], { retry: "always" }));
    await delay(0); // by now, the socket's buffers are full
    proxy.dropAll();
    proxy.hold(false);
    await Promise.all(calls);
    await connection.run(PUSH, key, ["last"], { retry: "always" });
    assertEquals(await call("LLEN", key), 22);
    await connection.release();
    close();
  });

  redisTest(`${name}: a client that is given back is still open, and may be given again`, async ({ url }) => {
    await using proxy = await RedisProxy.start(url);
    const { client, close } = await create(proxy.url);
    for (let i = 0; i < 15; i++) { // 11 listeners that are left behind cause a warning
      const connection = connect("connect", { client });
      await connection.run(ECHO, "key", [1, 2]);
      await connection.release();
    }
    assertEquals([proxy.connections, proxy.open], [1, 1]);
    close();
  });

  redisTest(
    `${name}: if the client can't connect, or was closed, calls say so after the call timeout`,
    async ({ url }) => {
      await using proxy = await RedisProxy.start(url);
      const { client, close } = await create(proxy.url);
      const connection = connect("connect", { client, callTimeout: 300 });
      await connection.run(ECHO, "key", [1, 2]);
      close();
      const { message } = await assertRejects(() => connection.run(ECHO, "key", [1, 2]), RedisConnectionError);
      assertStringIncludes(message, "within 300 ms: the client that was given");
      await connection.release();
    },
  );
}

redisTest(
  "given clients: messages arrive on a connection of this package, also after the connection fell silent",
  async ({ url, call }) => {
    await Promise.all(
      Object.entries(CLIENTS).map(async ([name, create]) => { // all at once: each waits for pings
        await using proxy = await RedisProxy.start(url);
        const { client, close } = await create(proxy.url);
        const connection = connect("connect", { client, silence: 1000 });
        const channel = uniqueName("channel");
        const resumed = Promise.withResolvers<void>();
        const heard = Promise.withResolvers<string>();
        await connection.subscribe(channel, heard.resolve, resumed.resolve);
        const off = await connection.subscribe(uniqueName("channel"), () => {});
        off();

        const connections = proxy.connections;
        const pings = () => proxy.requests.filter((request) => /ping/i.test(request)).length;
        while (pings() < 3) await new Promise((resolve) => setTimeout(resolve, 1));
        assertEquals(proxy.connections, connections, name); // the server answered the pings

        proxy.hold();
        while (proxy.connections === connections) await new Promise((resolve) => setTimeout(resolve, 1));
        proxy.dropAll();
        proxy.hold(false);
        await resumed.promise;
        assertEquals(await call("PUBLISH", channel, "again"), 1, name);
        assertEquals(await heard.promise, "again");
        await connection.release();
        close();
      }),
    );
  },
);

redisTest("given clients: a client that is not connected yet is waited for", async ({ url }) => {
  const client = createClient({ url });
  const connection = connect("connect", { client });
  const answer = connection.run(ECHO, "key", [1, 2]);
  await client.connect();
  await answer;
  await connection.release();
  client.destroy();
});

redisTest("given clients: a client that would run calls twice, or change keys, is refused", async ({ url }) => {
  const lazy = { lazyConnect: true };
  const clients: [client: unknown, reason: string][] = [
    [new Redis(url, lazy), "autoResendUnfulfilledCommands: false"],
    [new OldestRedis(url, lazy), "autoResendUnfulfilledCommands: false"],
    [new Redis(url, { ...lazy, ...NO_RESEND, keyPrefix: "a:" }), "keyPrefix"],
    [new OldestRedis(url, { ...lazy, ...NO_RESEND, stringNumbers: true }), "stringNumbers"],
    [createClient({ url, keyPrefix: "a:" }), "keyPrefix"],
    [new Cluster([url], { lazyConnect: true }), "cluster"],
    [createCluster({ rootNodes: [{ url }] }), "cluster"],
    [createSentinel({ name: "mymaster", sentinelRootNodes: [{ host: "localhost", port: 26379 }] }), "sentinels"],
    [createClientPool({ url }), "must be a client of"],
    [{}, "must be a client of"],
    [null, "must be a client of"],
    ["redis://localhost", "must be a client of"],
  ];
  for (const [client, reason] of clients) {
    const { message } = assertThrows(() => connect("create queue", { client: client as RedisClient }), TypeError);
    assertStringIncludes(message, "Cannot create queue: 'client' must");
    assertStringIncludes(message, reason);
  }
  assertThrows(() => connect("create queue", { client: createClient({ url }), url }), TypeError, "both");
  await Promise.resolve();
});
