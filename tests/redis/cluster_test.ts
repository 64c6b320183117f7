/** Tests of connections to a Redis Cluster: slots that move, and nodes that fail. */

import { assert, assertEquals, assertRejects, assertStringIncludes, assertThrows } from "@std/assert";
import { createClient } from "@redis/client";
import { loadConfig, runWorkers } from "@workqueue/core";
import { createRedisQueue, RedisConnectionError, redisQueues } from "@workqueue/redis";
import { setTimeout as delay } from "node:timers/promises";
import { connect, type ConnectOptions } from "../../packages/redis/connection/connect.ts";
import type { Connection } from "../../packages/redis/connection/connection.ts";
import { guardOf, slotOf } from "../../packages/redis/connection/hash_slot.ts";
import { createScript } from "../../packages/redis/connection/script.ts";
import { freePort } from "../keeper.ts";
import { Cluster } from "./clusters.ts";
import { open, take, until } from "./faults/faults.ts";
import { serverTest } from "./redis_tests.ts";
import { RedisServer } from "./server.ts";

const PUSH = createScript(`return redis.call('RPUSH', KEYS[1], ARGV[1] .. ARGV[#ARGV])`);
/** Writes to one key, reads another that may not exist, and sends a message. */
const SEND = createScript(`
  redis.call('RPUSH', KEYS[1], ARGV[1])
  redis.call('EXISTS', KEYS[1] .. ':other')
  return redis.call('PUBLISH', KEYS[1] .. ':channel', ARGV[1])`);

/** Opens a connection that is closed at the end of the block. */
function use(options: ConnectOptions): Connection & AsyncDisposable {
  const connection = connect("connect", { callTimeout: 60_000, ...options });
  return Object.assign(connection, { [Symbol.asyncDispose]: () => connection.release() });
}

/** Returns a key in the slots of each master. */
async function keysOf(cluster: Cluster): Promise<string[]> {
  return await Promise.all(cluster.masters.map(async (master) => `{${await cluster.nameOn(master, "list")}}`));
}

serverTest("cluster: key slots match those of the server, and a guard is in the slot of its key", async () => {
  await using server = await RedisServer.start({
    args: ["--cluster-enabled", "yes", "--cluster-port", `${await freePort()}`],
  });
  for (const key of ["a", "{a}b", "x{a}y{b}", "{}a", "{", "a}", "}{", "{{a}}", "", "ä{ö}", "workqueue:{images}:meta"]) {
    assertEquals(slotOf(key), await server.call("CLUSTER", "KEYSLOT", key), key);
  }
  for (const key of ["a", "{a}b", "x{a}y{b}", "ä{ö}", "workqueue:{images}:meta"]) {
    assertEquals(slotOf(guardOf(key)), slotOf(key), key);
  }
});

serverTest("cluster: calls and messages go to the node that has the key, over two connections per node", async () => {
  await using cluster = await Cluster.start();
  const keys = await keysOf(cluster);
  const [seed] = cluster.urls;
  await using connection = use({ cluster: [seed!] });
  const others = await Promise.all(["a", "b", "c"].flatMap((text) => {
    return cluster.masters.map(async (master) => `{${await cluster.nameOn(master, text)}}`);
  }));
  for (const [i, key] of keys.entries()) {
    const heard: string[] = [];
    const off = await connection.subscribe(`${key}:channel`, (text) => heard.push(text));
    const calls = ["a", "b", "c"].map((text) => connection.run(SEND, key, [text]));
    assertEquals(await Promise.all(calls), [1, 1, 1]);
    await until(() => heard.length === 3);
    assertEquals(heard, ["a", "b", "c"]);
    assertEquals(await cluster.masters[i]!.call("LRANGE", key, "0", "-1"), ["a", "b", "c"]);
    off();
    await until(async () => await connection.run(SEND, key, ["d"]) === 0);
  }
  await Promise.all(others.map((key) => connection.run(PUSH, key, [1])));
  for (const master of cluster.masters) {
    const clients = String(await master.call("CLIENT", "LIST", "TYPE", "normal"));
    assertEquals(clients.match(/cmd=(evalsha|eval)\b/g)?.length, 1, clients);
  }
});

serverTest("cluster: while a slot is moved, no script runs partly, and calls keep their order", async () => {
  await using cluster = await Cluster.start();
  const [from, to] = cluster.masters as [RedisServer, RedisServer];
  const [key, other] = await keysOf(cluster) as [string, string];
  await using connection = use({ cluster: cluster.urls });
  const heard: string[] = [];
  let resumed = 0;
  let reconnected = 0;
  await connection.subscribe(`${key}:channel`, (text) => heard.push(text), () => resumed++);
  connection.onReconnect(key, () => reconnected++);
  assertEquals(await connection.run(SEND, key, ["0"]), 1);
  const slot = await cluster.slotOf(key);
  await cluster.beginMove(slot, from, to);
  const calls = ["1", "2", "3"].map((text, i) =>
    connection.run(SEND, key, [text], { retry: (["never", "always", "marked"] as const)[i]! })
  );
  await until(async () => /errorstat_TRYAGAIN:count=[2-9]/.test(String(await from.call("INFO", "errorstats"))));
  assertEquals(await from.call("LRANGE", key, "0", "-1"), ["0"]);
  assertEquals(await connection.run(PUSH, other, [1]), 1); // other slots go on
  await cluster.moveKeys(slot, from, to, 100);
  await until(async () => /errorstat_ASK:count=[2-9]/.test(String(await from.call("INFO", "errorstats"))));
  await cluster.finishMove(slot, from, to);
  await Promise.all(calls);
  assertEquals(await to.call("LRANGE", key, "0", "-1"), ["0", "1", "2", "3"]);
  assert(reconnected > 0);
  await until(() => resumed > 0);
  assertEquals(await connection.run(SEND, key, ["4"]), 1);
  await until(() => heard.includes("4"));
});

serverTest("cluster: if a slot is moved while a ping is unanswered, messages arrive on the new node", async () => {
  await using cluster = await Cluster.start({ args: ["--enable-debug-command", "yes"] });
  const [from, to] = cluster.masters as [RedisServer, RedisServer];
  const [key] = await keysOf(cluster) as [string];
  await using connection = use({ cluster: cluster.urls, silence: 200 });
  await connection.subscribe(`${key}:channel`, () => {});
  assertEquals(await connection.run(SEND, key, ["a"]), 1);
  const slot = slotOf(key);
  await cluster.beginMove(slot, from, to);
  while (await cluster.moveKeys(slot, from, to, 10) > 0);
  const id = await cluster.idOf(to);
  // The next ping is sent 200 ms after the previous one, while the server sleeps. The client then takes the message
  // that the channel has moved for the answer to the ping.
  const client = createClient({ url: from.url, RESP: 2 });
  await client.connect();
  const pings = async () =>
    /cmdstat_ping:calls=(\d+)/.exec(String(await client.sendCommand(["INFO", "commandstats"])))?.[1];
  const before = await pings();
  await until(async () => await pings() !== before);
  await delay(100);
  await Promise.all([
    client.sendCommand(["DEBUG", "SLEEP", "0.15"]),
    client.sendCommand(["CLUSTER", "SETSLOT", `${slot}`, "NODE", id]),
  ]);
  client.destroy();
  await to.call("CLUSTER", "SETSLOT", `${slot}`, "NODE", id);
  await until(async () => await connection.run(SEND, key, ["b"]) === 1);
});

for (const signal of ["SIGKILL", "SIGSTOP"] as const) {
  serverTest(
    `cluster: when a master gets ${signal}, its replica takes over, and other masters continue meanwhile`,
    async () => {
      await using cluster = await Cluster.start();
      const [key, other] = await keysOf(cluster) as [string, string];
      await using connection = use({ cluster: cluster.urls, silence: 2000 });
      const resumed = Promise.withResolvers<void>();
      await connection.subscribe(`${key}:channel`, () => {}, resumed.resolve);
      assertEquals(await connection.run(SEND, key, ["a"]), 1);
      await until(async () => await cluster.replica.call("CLUSTER", "COUNTKEYSINSLOT", `${slotOf(key)}`) === 1);
      await cluster.masters[0]!.kill(signal);
      const begun = connection.run(SEND, key, ["never"]).catch((error) => error);
      const call = connection.run(SEND, key, ["b"], { retry: "always" });
      assertEquals(await connection.run(PUSH, other, [1], { retry: "always" }), 1);
      await call;
      const error = await begun;
      if (error instanceof RedisConnectionError) assert(error.mayHaveRun);
      const pushed = await cluster.replica.call("LRANGE", key, "0", "-1") as string[];
      assertEquals(pushed, error instanceof RedisConnectionError ? ["a", "b"] : ["a", "never", "b"]);
      await resumed.promise;
      assertEquals(await connection.run(SEND, key, ["c"]), 1);
    },
  );
}

serverTest(
  "cluster: when a queue's master is killed, its replica has the replicated data, and other queues continue",
  async () => {
    await using cluster = await Cluster.start();
    const [first, second] = cluster.masters as [RedisServer, RedisServer];
    const at = { cluster: cluster.urls, callTimeout: "1m", url: undefined } as const;
    await using one = open("", await cluster.nameOn(first, "queue"), at);
    await using other = open("", await cluster.nameOn(second, "queue"), at);
    const items = Array.from({ length: 300 }, (_, i) => `item ${i}`);
    await one.queue.addAll(items);
    const { name } = one.queue;
    await until(async () => {
      const offsets = [first, cluster.replica].map(async (node) => {
        return /(?:slave|master)_repl_offset:(\d+)/.exec(String(await node.call("INFO", "replication")))![1];
      });
      return new Set(await Promise.all(offsets)).size === 1;
    });
    const runs = new Map<string, number>();
    const pool = runWorkers(one.queue, async (item) => {
      await delay(1);
      runs.set(item, (runs.get(item) ?? 0) + 1);
    }, { concurrency: 4 });
    const next = take(one.queue).catch(() => undefined);
    await until(() => runs.size > 50);
    await first.kill("SIGKILL");
    for (let i = 0; i < 20; i++) { // before the failover has ended
      await other.queue.add(`${i}`);
      assertEquals(await (await take(other.queue)).finish(), true);
    }
    assertEquals((await cluster.replica.call("ROLE") as string[])[0], "slave");
    const lease = await next;
    if (lease !== undefined) {
      await lease.finish();
      runs.set(lease.item, (runs.get(lease.item) ?? 0) + 1);
    }
    await one.queue.whenIdle();
    await pool.stop();
    assertEquals(runs.size, items.length);
    assertEquals((await cluster.replica.call("ROLE") as string[])[0], "master");
    assertEquals(await cluster.replica.call("EXISTS", `workqueue:{${name}}:meta`), 1);
    assertEquals([one.errors, other.errors], [[], []]);
  },
);

serverTest("cluster: when a master hands over to its replica, calls and messages follow", async () => {
  await using cluster = await Cluster.start();
  const [key] = await keysOf(cluster) as [string];
  await using connection = use({ cluster: cluster.urls });
  const heard = Promise.withResolvers<string>();
  const resumed = Promise.withResolvers<void>();
  await connection.subscribe(`${key}:channel`, heard.resolve, resumed.resolve);
  assertEquals(await connection.run(PUSH, key, [1]), 1);
  await until(() => cluster.replica.call("CLUSTER", "FAILOVER").catch(() => false));
  await until(async () => (await cluster.replica.call("ROLE") as string[])[0] === "master");
  assertEquals(await connection.run(PUSH, key, [2]), 2);
  await resumed.promise;
  assertEquals(await connection.run(SEND, key, ["3"]), 1);
  assertEquals(await heard.promise, "3");
});

serverTest("cluster: errors say what is wrong", async () => {
  await using server = await RedisServer.start();
  await using alone = await RedisServer.start({
    args: ["--cluster-enabled", "yes", "--cluster-port", `${await freePort()}`],
  });
  const failure = async (options: ConnectOptions) => {
    await using connection = use({ callTimeout: 500, ...options });
    const { message } = await assertRejects(() => connection.run(PUSH, "list", [1]), RedisConnectionError);
    const refused = await assertRejects(() => connection.subscribe("list", () => {}), RedisConnectionError);
    assertEquals(refused.message, message);
    return message;
  };
  const start = (url: string) => `Cannot reach Redis at ${new URL(url).host} (cluster)`;
  assertEquals(
    await failure({ cluster: [server.url] }),
    `${start(server.url)}: it is not a node of a cluster. Use the option 'url' instead of 'cluster'`,
  );
  assertEquals(
    await failure({ cluster: [alone.url] }),
    `${start(alone.url)} within 500 ms: no node has slot ${slotOf("list")}`,
  );
  await alone.kill("SIGKILL");
  const message = await failure({ cluster: [alone.url] });
  assertStringIncludes(message, `${start(alone.url)} within 500 ms: node ${new URL(alone.url).host}: `);
});

serverTest("cluster: a queue and its throttle work while their slots are moved back and forth", async () => {
  await using cluster = await Cluster.start();
  const [first, second, third] = cluster.masters as [RedisServer, RedisServer, RedisServer];
  const name = await cluster.nameOn(second, "queue");
  const config = loadConfig({
    throttles: { api: { type: "concurrency", limit: 6 } },
    queues: {
      [name]: { throttle: "api", concurrency: 2, limiter: { type: "exponential", baseDelay: 1, maxDelay: 5 } },
    },
  });
  const errors: unknown[] = [];
  const running = new Set<string>();
  const runs = new Map<string, number>();
  let most = 0;
  // Each order of the URLs has connections of its own, as in another process.
  const orders = cluster.urls.map((_, i) => [...cluster.urls.slice(i), ...cluster.urls.slice(0, i)]);
  const workers = [...orders, [...cluster.urls].reverse()].map((urls) => {
    const queue = redisQueues(config, {
      cluster: urls,
      callTimeout: "1m",
      leaseDuration: "30s",
      onQueueError: (error) => errors.push(error),
    }).queue(name);
    const pool = config.runWorkers(name, queue, async (item) => {
      assert(!running.has(item), `${item} is processed twice at once`);
      running.add(item);
      most = Math.max(most, running.size);
      await delay(Math.random() * 10);
      runs.set(item, (runs.get(item) ?? 0) + 1);
      running.delete(item);
      if (runs.get(item) === 1 && item.endsWith("7")) throw new Error("once more");
    }, { onError() {} });
    return { queue, pool };
  });
  const [{ queue }] = workers as [typeof workers[0]];
  const slots = [`{${name}}`, "{throttle:api}"].map((key) => slotOf(key));
  const items = Array.from({ length: 600 }, (_, i) => `item ${i}`);
  const at = new Map(
    await Promise.all(slots.map(async (slot) => {
      for (const master of cluster.masters) {
        const ranges = await master.call("CLUSTER", "SLOTS") as [number, number, [string, number]][];
        const range = ranges.find(([from, to]) => slot >= from && slot <= to)!;
        return [slot, cluster.masters.find(({ port }) => port === range[2][1])!] as const;
      }
      throw new Error("no range");
    })),
  );
  for (let round = 0; round < 4; round++) {
    await queue.addAll(items.slice(round * 150, (round + 1) * 150));
    await until(() => runs.size > round * 150 + 20); // in the middle of the work
    for (const slot of slots) {
      const from = at.get(slot)!;
      const to = [first, second, third].find((node) => node !== from && (round % 2 === 0 ? node !== first : true))!;
      await cluster.beginMove(slot, from, to);
      for (let i = 0; i < 3; i++) {
        await cluster.moveKeys(slot, from, to, 2);
        await delay(30);
      }
      await cluster.finishMove(slot, from, to);
      at.set(slot, to);
    }
  }
  await queue.whenIdle();
  assertEquals([...runs].filter(([item, count]) => count !== (item.endsWith("7") ? 2 : 1)), []);
  assertEquals([runs.size, errors], [items.length, []]);
  assert(most <= 6, `${most} at once`);

  // An idle worker is woken, because its subscription has moved along.
  for (const worker of workers.slice(1)) await worker.pool.stop();
  const owner = at.get(slots[0]!)!;
  await until(async () => Number(await owner.call("ZCARD", `workqueue:{${name}}:idle`)) >= 1);
  const addedAt = performance.now();
  await queue.add("last");
  await until(() => runs.has("last"));
  assert(performance.now() - addedAt < 4000, "taken as late as without a message"); // the next look comes after 5 s
  for (const worker of workers) {
    await worker.pool.stop();
    await worker.queue.shutDownWithDrain();
  }
});

Deno.test("cluster: wrong options are refused, and the error doesn't show them", () => {
  const wrong: [options: object, rule: string][] = [
    [{ cluster: [] }, "'cluster' must be a list of at least one URL"],
    [{ cluster: "redis://:secret@localhost" }, "'cluster' must be a list of at least one URL"],
    [{ cluster: ["http://:secret@localhost"] }, "'cluster' must begin with redis:// or rediss://"],
    [{ cluster: ["redis://localhost/1"] }, "'cluster' must not contain the number of a database"],
    [{ cluster: ["redis://:secret@a", "redis://:other@b"] }, "the URLs in 'cluster' must have the same user, password"],
    [{ cluster: ["redis://a", "rediss://b"] }, "the URLs in 'cluster' must have the same user, password and protocol"],
    [{ cluster: ["redis://a"], url: "redis://b" }, "'url' and 'cluster' must not both be given"],
    [{ cluster: ["redis://a"], url: "redis://b", sentinels: ["redis://c"] }, "'url' and 'cluster' must not both"],
    [{ cluster: ["redis://a"], client: {} }, "'cluster' and 'client' must not both be given"],
    [{ cluster: ["redis://a"], tls: {} }, "'tls' needs a URL that begins with rediss://"],
  ];
  for (const [options, rule] of wrong) {
    const { message } = assertThrows(() => createRedisQueue({ name: "q", ...options }), TypeError);
    assertStringIncludes(message, `Cannot create Redis queue: ${rule}`);
    assertEquals(/secret/i.test(message), false);
  }
});
