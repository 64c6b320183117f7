/** Tests of connections through Redis Sentinels: the master is found, and found again after a failover. */

import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { runWorkers } from "@workqueue/core";
import { createRedisQueue, RedisConnectionError } from "@workqueue/redis";
import { Redis } from "ioredis";
import { connect, type ConnectOptions } from "../../packages/redis/connection/connect.ts";
import { createScript } from "../../packages/redis/connection/script.ts";
import { newQueue, open, take, until } from "./faults/faults.ts";
import { serverTest } from "./redis_tests.ts";
import { callRedis } from "./server.ts";
import { MASTER, Watched } from "./sentinels.ts";

const PUSH = createScript(`return redis.call("RPUSH", KEYS[1], ARGV[1])`);

serverTest(
  "sentinels: when the master is killed, the queue continues, and the caller of `get` gets the next item",
  async () => {
    await using watched = await Watched.start();
    const at = { url: `redis://${MASTER}`, sentinels: watched.urls };
    const { name } = newQueue("");
    await using consumer = open(at.url, name, { ...at, callTimeout: "1m" });
    // The URL differs only in form, so the producer has connections of its own, as in another process.
    await using producer = open(at.url, name, { ...at, url: `${at.url}/0`, callTimeout: "1m" });
    const done = new Map<string, number>();
    const pool = runWorkers(consumer.queue, (item) => void done.set(item, (done.get(item) ?? 0) + 1), {
      concurrency: 4,
    });
    const items = Array.from({ length: 200 }, (_, i) => `item ${i}`);
    await producer.queue.addAll(items.slice(0, 100));
    await producer.queue.whenIdle();
    await watched.replicated(); // a master that dies before has lost the queue, which is reported
    const [first, second] = watched.servers;
    const adds = items.slice(100).map((item) => producer.queue.add(item));
    await first!.kill("SIGKILL");
    await Promise.all(adds);
    await until(() => done.size === items.length);
    await producer.queue.whenIdle();
    await pool.stop();
    assertEquals((await watched.master())?.port, second!.port);
    // Replication is asynchronous: the end of an attempt may be lost, and then the item runs again.
    assert([...done.values()].filter((runs) => runs > 1).length <= 4);

    // The subscription has moved too, so an idle process is woken.
    const next = take(consumer.queue);
    await until(async () => String(await second!.call("PUBSUB", "CHANNELS", "*")) !== "");
    await until(async () => await second!.call("ZCARD", `workqueue:{${name}}:idle`) === 1);
    const addedAt = performance.now();
    await producer.queue.add("last");
    const lease = await next;
    assert(performance.now() - addedAt < 4000, "taken as late as without a message"); // the next look comes after 5 s
    assertEquals([lease.item, await lease.finish()], ["last", true]);
    assertEquals([consumer.errors, producer.errors], [[], []]);
  },
);

serverTest(
  "sentinels: after a planned failover, calls and messages go to the new master, and calls keep their order",
  async () => {
    await using watched = await Watched.start();
    const resumed = Promise.withResolvers<void>();
    const heard = Promise.withResolvers<string>();
    const connection = connect("connect", { url: `redis://${MASTER}/1`, sentinels: watched.urls, callTimeout: 60_000 });
    assertEquals([connection.address, connection.database], [`${MASTER} (Sentinel)`, 1]);
    await connection.subscribe("channel", heard.resolve, resumed.resolve);
    const [, second] = watched.servers;
    await connection.run(PUSH, "list", [0]);
    // Refused until the Sentinel knows the state of the replica.
    await until(() => watched.sentinels[0]!.call("SENTINEL", "FAILOVER", MASTER).catch(() => false));
    const calls: Promise<unknown>[] = [];
    await until(async () => {
      for (let i = 0; i < 5; i++) calls.push(connection.run(PUSH, "list", [calls.length + 1], { retry: "always" }));
      return (await watched.master().catch(() => undefined))?.port === second!.port;
    });
    await Promise.all(calls);
    const last = calls.length + 1;
    await connection.run(PUSH, "list", [last], { retry: "always" });
    const pushed = (await callRedis(`${second!.url}/1`, "LRANGE", "list", "0", "-1") as string[]).map(Number);
    assertEquals(pushed.at(-1), last);
    assertEquals([...new Set(pushed)], [...new Set(pushed)].sort((one, other) => one - other));
    await resumed.promise;
    assertEquals(await second!.call("PUBLISH", "channel", "again"), 1);
    assertEquals(await heard.promise, "again");
    await connection.release();
  },
);

serverTest("sentinels: a Sentinel that is down or hangs is skipped, and errors say what is wrong", async () => {
  await using watched = await Watched.start();
  const url = `redis://${MASTER}`;
  await watched.sentinels[0]!.kill("SIGKILL");
  await watched.sentinels[1]!.kill("SIGSTOP");
  const use = async (options: ConnectOptions) => {
    const connection = connect("connect", options);
    try {
      return await connection.run(PUSH, "list", [1]);
    } finally {
      await connection.release();
    }
  };
  assertEquals(await use({ url, sentinels: watched.urls }), 1);

  const failure = async (options: ConnectOptions) => {
    const { message } = await assertRejects(() => use({ callTimeout: 700, ...options }), RedisConnectionError);
    return message;
  };
  const last = watched.urls[2]!;
  const at = `Sentinel at ${new URL(last).host}`;
  const start = (name: string) => `Cannot reach Redis at ${name} (Sentinel) within 700 ms: `;
  assertEquals(
    await failure({ url: "redis://other", sentinels: [last] }),
    `${start("other")}${at}: it knows no master with the name "other"`,
  );
  assertStringIncludes(await failure({ url, sentinels: [watched.urls[0]!] }), "ECONNREFUSED");
  const noSentinel = watched.servers[0]!.url;
  assertStringIncludes(await failure({ url, sentinels: [noSentinel] }), "unknown command");
  await watched.sentinels[1]!.kill("SIGCONT");
});

serverTest("sentinels: a replica that a Sentinel believes to be the master is not used", async () => {
  await using watched = await Watched.start();
  const [, replica] = watched.servers;
  const connection = connect("connect", { url: `redis://${MASTER}`, sentinels: watched.urls, callTimeout: 1000 });
  for (const sentinel of watched.sentinels) {
    await sentinel.call("SENTINEL", "REMOVE", MASTER);
    await sentinel.call("SENTINEL", "MONITOR", MASTER, "127.0.0.1", `${replica!.port}`, "3");
  }
  const { message } = await assertRejects(() => connection.run(PUSH, "list", [1]), RedisConnectionError);
  assertStringIncludes(message, `the server at 127.0.0.1:${replica!.port} is a slave, not the master`);
  await connection.release();
});

serverTest("sentinels: a given client of ioredis that uses Sentinels works, also after a failover", async () => {
  await using watched = await Watched.start();
  const client = new Redis({
    sentinels: watched.sentinels.map(({ port }) => ({ host: "127.0.0.1", port })),
    name: MASTER,
    autoResendUnfulfilledCommands: false,
  });
  const connection = connect("connect", { client, callTimeout: 60_000 });
  assertEquals(connection.address, `${MASTER} (Sentinel)`);
  const resumed = Promise.withResolvers<void>();
  await connection.subscribe("channel", () => {}, resumed.resolve);
  assertEquals(await connection.run(PUSH, "list", [1]), 1);
  const [first, second] = watched.servers;
  await until(async () => await second!.call("LLEN", "list") === 1);
  await first!.kill("SIGKILL");
  assertEquals(await connection.run(PUSH, "list", [2], { retry: "always" }), 2);
  await resumed.promise;
  assertEquals(await second!.call("PUBLISH", "channel", "again"), 1);
  await connection.release();
  client.disconnect();
});

Deno.test("sentinels: wrong options are refused, and the error doesn't show them", () => {
  const url = `redis://${MASTER}`;
  const wrong: [options: object, rule: string][] = [
    [{ sentinels: ["redis://localhost"] }, "'sentinels' needs a 'url' whose host is the master's name"],
    [{ url, sentinels: "redis://:secret@localhost" }, "'sentinels' must be a list of at least one URL"],
    [{ url, sentinels: [] }, "'sentinels' must be a list of at least one URL"],
    [{ url, sentinels: [{ host: "secret" }] }, "'sentinels' must be a URL such as redis[s]://"],
    [{ url, sentinels: ["http://:secret@localhost"] }, "'sentinels' must begin with redis:// or rediss://"],
    [{ client: {}, sentinels: [] }, "'sentinels' and 'client' must not both be given"],
  ];
  for (const [options, rule] of wrong) {
    const { message } = assertThrows(() => createRedisQueue({ name: "q", ...options }), TypeError);
    assertStringIncludes(message, `Cannot create Redis queue: ${rule}`);
    assertEquals(/secret/i.test(message), false);
  }
});
