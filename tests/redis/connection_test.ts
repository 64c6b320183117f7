/** Tests of connections to the server: calls and subscriptions during network failures. */

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { createClient } from "@redis/client";
import { connect, type ConnectOptions } from "../../packages/redis/connection/connect.ts";
import type { Connection } from "../../packages/redis/connection/connection.ts";
import { RedisConnectionError } from "../../packages/redis/connection/errors.ts";
import { createScript } from "../../packages/redis/connection/script.ts";
import { freePort } from "../keeper.ts";
import { beBusy, nextTurn } from "../queue_helpers.ts";
import { RedisProxy } from "./proxy.ts";
import { redisTest, serverTest, uniqueName } from "./redis_tests.ts";
import { RedisServer } from "./server.ts";

/** Script that appends to a list and returns the length of the list. */
const PUSH = createScript(`return redis.call("RPUSH", KEYS[1], ARGV[1])`);
/** The same with the header of the package's scripts. A replica refuses such a script before it runs. */
const PUSH_AT_ONCE = createScript(`#!lua\n${PUSH.text} -- at once`);
const ECHO = createScript(`return { KEYS[1], ARGV[1], ARGV[2], 7, false, { "nested", 1.5 } }`);

/** Opens a connection that is closed at the end of the block. */
function use(options: ConnectOptions): Connection & AsyncDisposable {
  const connection = connect("connect", options);
  return Object.assign(connection, { [Symbol.asyncDispose]: () => connection.release() });
}

/** Returns the error of a call. The call must fail with a connection error. */
function failure(call: Promise<unknown>): Promise<RedisConnectionError> {
  return assertRejects(() => call, RedisConnectionError);
}

redisTest("connection: a script returns strings, numbers, null and arrays", async ({ url }) => {
  await using connection = use({ url });
  assertEquals(await connection.run(ECHO, "key", ["a", 2]), ["key", "a", "2", 7, null, ["nested", 1]]);
});

redisTest(
  "connection: calls of one turn of the event loop are sent together, and run in order",
  async ({ url, call }) => {
    await using proxy = await RedisProxy.start(url);
    await using connection = use({ url: proxy.url });
    const key = uniqueName("list");
    const numbers = Array.from({ length: 20 }, (_, i) => i + 1);
    await connection.run(PUSH, key, [0]);

    const before = proxy.requests.length;
    const lengths = await Promise.all(numbers.map((i) => connection.run(PUSH, key, [i])));
    assertEquals(lengths, numbers.map((i) => i + 1));
    assertEquals(proxy.requests.length, before + 1);
    assertEquals(await call("LRANGE", key, "0", "-1"), [0, ...numbers].map(String));
  },
);

redisTest("connection: a script that the server has forgotten is sent again", async ({ url, call }) => {
  await using connection = use({ url });
  const key = uniqueName("list");
  await connection.run(PUSH, key, [1]);
  await call("SCRIPT", "FLUSH");
  assertEquals(await Promise.all([connection.run(PUSH, key, [2]), connection.run(PUSH, key, [3])]), [2, 3]);
  assertEquals(await call("LRANGE", key, "0", "-1"), ["1", "2", "3"]);
});

redisTest(
  "connection: a call that the server refuses rejects at once with the server's error",
  async ({ url, call }) => {
    await using connection = use({ url });
    const key = uniqueName("string");
    await call("SET", key, "no list");
    const error = await assertRejects(() => connection.run(PUSH, key, [1], { retry: "always" }), Error, "WRONGTYPE");
    assert(!(error instanceof RedisConnectionError));
  },
);

serverTest("connection: a call that needs too much memory rejects at once", async () => {
  await using server = await RedisServer.start({ maxmemory: "1" });
  await using connection = use({ url: server.url });
  await assertRejects(() => connection.run(PUSH, "list", [1], { retry: "always" }), Error, "OOM");
});

serverTest("connection: calls are queued while the server is away, and then made in order", async () => {
  await using server = await RedisServer.start({ appendonly: true });
  await using connection = use({ url: server.url });
  await using other = use({ url: server.url, callTimeout: 20_000 });
  await connection.run(PUSH, "list", [1]);
  await server.kill("SIGKILL");
  const calls = [2, 3, 4, 5].map((i) => (i % 2 === 0 ? other : connection).run(PUSH, "list", [i], { retry: "always" }));
  await server.start();
  assertEquals(await Promise.all(calls), [2, 3, 4, 5]);
  assertEquals(await server.call("LRANGE", "list", "0", "-1"), ["1", "2", "3", "4", "5"]);
});

serverTest(
  "connection: after a restart the server knows only some scripts, and calls keep their order",
  async () => {
    await using server = await RedisServer.start();
    await using connection = use({ url: server.url });
    const scripts = [PUSH, createScript(`return redis.call("RPUSH", KEYS[1], ARGV[1]) -- another`)];
    for (const script of scripts) await connection.run(script, "list", [0]);
    await server.restart();
    await server.call("SCRIPT", "LOAD", scripts[1]!.text);
    await Promise.all(scripts.map((script, i) => connection.run(script, "list", [i], { retry: "always" })));
    assertEquals(await server.call("LRANGE", "list", "0", "-1"), ["0", "1"]);
  },
);

redisTest(
  "connection: when a reply is lost, a call with 'never' rejects and says that its effect is unknown",
  async ({ url, call }) => {
    await using proxy = await RedisProxy.start(url);
    await using connection = use({ url: proxy.url });
    const key = uniqueName("list");
    await connection.run(PUSH, key, ["first"]);
    const lost = proxy.loseReply("second");
    const error = await failure(connection.run(PUSH, key, ["second"]));
    await lost;
    assert(error.mayHaveRun);
    assertStringIncludes(error.message, "it is unknown whether the call took effect");
    assertEquals(await connection.run(PUSH, key, ["third"]), 3);
    assertEquals(await call("LRANGE", key, "0", "-1"), ["first", "second", "third"]);
  },
);

redisTest("connection: when a reply is lost, a call with 'always' is repeated before later calls", async (server) => {
  await using proxy = await RedisProxy.start(server.url);
  await using connection = use({ url: proxy.url });
  const key = uniqueName("list");
  await connection.run(PUSH, key, ["first"]);
  const lost = proxy.loseReply("second");
  const second = connection.run(PUSH, key, ["second"], { retry: "always" });
  await lost;
  const third = connection.run(PUSH, key, ["third"], { retry: "always" });
  assertEquals(await Promise.all([second, third]), [3, 4]);
  assertEquals(await server.call("LRANGE", key, "0", "-1"), ["first", "second", "second", "third"]);
});

redisTest(
  "connection: when a reply is lost, a call with 'marked' tells the script that it is repeated",
  async ({ url, call }) => {
    await using proxy = await RedisProxy.start(url);
    await using connection = use({ url: proxy.url });
    const key = uniqueName("list");
    const mark = createScript(`return redis.call("RPUSH", KEYS[1], ARGV[1] .. ARGV[#ARGV])`);
    await connection.run(mark, key, ["first"], { retry: "marked" });
    const lost = proxy.loseReply("second");
    const second = connection.run(mark, key, ["second"], { retry: "marked" });
    await lost;
    await second;
    assertEquals(await call("LRANGE", key, "0", "-1"), ["first0", "second0", "second1"]);
  },
);

redisTest("connection: a call that was only queued is not marked as repeated", async ({ url, call }) => {
  await using proxy = await RedisProxy.start(url);
  await using connection = use({ url: proxy.url });
  const key = uniqueName("list");
  const mark = createScript(`return redis.call("RPUSH", KEYS[1], ARGV[1] .. ARGV[#ARGV])`);
  proxy.refuse();
  const calls = [
    connection.run(mark, key, ["a"], { retry: "marked" }),
    connection.run(PUSH, key, ["b"], { retry: "never" }),
  ];
  while (proxy.connections < 2) await new Promise((resolve) => setTimeout(resolve));
  proxy.refuse(false);
  assertEquals(await Promise.all(calls), [1, 2]);
  assertEquals(await call("LRANGE", key, "0", "-1"), ["a0", "b"]);
});

redisTest("connection: an unsent call rejects after the call timeout, and says why", async ({ url }) => {
  await using proxy = await RedisProxy.start(url);
  const { url: nobody } = proxy;
  await proxy[Symbol.asyncDispose]();
  await using connection = use({ url: nobody, callTimeout: 500 });
  const error = await failure(connection.run(PUSH, "list", [1]));
  assert(!error.mayHaveRun);
  assertEquals(error.message.split(": ")[0], `Cannot reach Redis at ${new URL(nobody).host} within 500 ms`);
  assertStringIncludes(error.message, "ECONNREFUSED");
  assert(error.cause instanceof Error);
});

redisTest("connection: each user has its own call timeout", async ({ url }) => {
  await using proxy = await RedisProxy.start(url);
  proxy.refuse();
  await using patient = use({ url: proxy.url });
  await using hasty = use({ url: proxy.url, callTimeout: 1 });
  const key = uniqueName("list");
  const call = patient.run(PUSH, key, [1]);
  await failure(hasty.run(PUSH, key, [2]));
  proxy.refuse(false);
  assertEquals(await call, 1);
});

serverTest("connection: a call sent to a server that hangs rejects after the call timeout", async () => {
  await using server = await RedisServer.start();
  await using patient = use({ url: server.url });
  await using hasty = use({ url: server.url, callTimeout: 50 });
  await patient.run(PUSH, "list", ["first"]);
  await server.kill("SIGSTOP");
  const error = await failure(hasty.run(PUSH, "list", ["second"]));
  assert(error.mayHaveRun);
  assertStringIncludes(error.message, "did not answer within 50 ms: it is unknown whether the call took effect");
  // Nothing is sent to a server that doesn't answer.
  assert(!(await failure(hasty.run(PUSH, "list", ["third"]))).mayHaveRun);
  await server.kill("SIGCONT");
  await patient.run(PUSH, "list", ["last"]);
  const items = await server.call("LRANGE", "list", "0", "-1") as string[];
  assertEquals(items.filter((item) => item !== "second"), ["first", "last"]);
});

redisTest("connection: a silent connection is given up, and the call is repeated on another", async ({ url, call }) => {
  await using proxy = await RedisProxy.start(url);
  await using connection = use({ url: proxy.url, silence: 30 });
  const key = uniqueName("list");
  await connection.run(PUSH, key, [1]);
  proxy.hold();
  const processing = connection.run(PUSH, key, [2], { retry: "always" });
  while (proxy.connections < 2) await new Promise((resolve) => setTimeout(resolve));
  proxy.dropAll(); // the proxy drops the data that it has held back
  proxy.hold(false);
  await processing;
  assertEquals(await call("LRANGE", key, "0", "-1"), ["1", "2"]);
});

serverTest("connection: while the server is a replica, calls are queued", async () => {
  await using server = await RedisServer.start();
  await using connection = use({ url: server.url });
  await connection.run(PUSH, "list", ["first"]);
  await server.call("REPLICAOF", "127.0.0.1", "1");
  const calls = ["second", "third"].map((item) => connection.run(PUSH, "list", [item], { retry: "never" }));
  // Wait until the server has refused a call.
  while (!/cmdstat_eval:calls=[2-9]/.test(String(await server.call("INFO", "commandstats"))));
  await server.call("REPLICAOF", "NO", "ONE");
  assertEquals(await Promise.all(calls), [2, 3]);
  assertEquals(await server.call("LRANGE", "list", "0", "-1"), ["first", "second", "third"]);
});

for (
  const refusal of [
    "LOADING Redis is loading the dataset in memory",
    "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
    "NOREPLICAS Not enough good replicas to write.",
    "TRYAGAIN Multiple keys request during rehashing of slot",
    "CLUSTERDOWN The cluster is down",
  ]
) {
  const [code] = refusal.split(" ");
  redisTest(`connection: while the server refuses with ${code}, calls are queued`, async ({ url, call }) => {
    await using proxy = await RedisProxy.start(url);
    await using connection = use({ url: proxy.url });
    await using way = await RedisProxy.start(url);
    await using hasty = use({ url: way.url, callTimeout: 50 });
    const key = uniqueName("list");
    const push = createScript(`
      local refusal = redis.call("GET", KEYS[1] .. ":refusal")
      if refusal then return redis.error_reply(refusal) end
      return redis.call("RPUSH", KEYS[1], ARGV[1] .. ARGV[#ARGV])`);
    await call("SET", `${key}:refusal`, refusal);
    const calls = (["never", "always", "marked"] as const).map((retry) =>
      connection.run(push, key, [retry], { retry })
    );
    let error: RedisConnectionError;
    do error = await failure(hasty.run(push, key, ["hasty"])); while (
      !error.message.endsWith(`within 50 ms: ${refusal}`)
    );
    assertEquals(error.mayHaveRun, false);
    while (proxy.connections < 3) await new Promise((resolve) => setTimeout(resolve)); // wait until a call is retried
    await call("DEL", `${key}:refusal`);
    assertEquals(await Promise.all(calls), [1, 2, 3]);
    assertEquals(await call("LRANGE", key, "0", "-1"), ["nevernever", "alwaysalways", "marked0"]);
  });
}

serverTest("connection: while the server has too few replicas for writes, calls are queued", async () => {
  await using server = await RedisServer.start();
  await using connection = use({ url: server.url });
  const push = createScript(`#!lua\nreturn redis.call("RPUSH", KEYS[1], ARGV[1])`); // refused before the script runs
  await connection.run(push, "list", ["first"]);
  await server.call("CONFIG", "SET", "min-replicas-to-write", "1");
  const calls = [push, PUSH].map((script, i) => connection.run(script, "list", [i], { retry: "never" }));
  while (!/errorstat_NOREPLICAS:count=[2-9]/.test(String(await server.call("INFO", "errorstats"))));
  await server.call("CONFIG", "SET", "min-replicas-to-write", "0");
  assertEquals(await Promise.all(calls), [2, 3]);
});

serverTest("connection: a channel is waited for while the server runs a third-party script", async () => {
  await using server = await RedisServer.start({ args: ["--busy-reply-threshold", "1"] });
  await using proxy = await RedisProxy.start(server.url);
  const busy = server.call("EVAL", "while true do end", "0").catch(() => {});
  while (await server.call("PING").then(() => true, () => false)); // wait until the server refuses calls
  await using connection = use({ url: proxy.url });
  const heard = Promise.withResolvers<string>();
  const subscribed = connection.subscribe("channel", heard.resolve);
  while (proxy.connections < 3) await Promise.race([subscribed, new Promise((resolve) => setTimeout(resolve))]);
  await server.call("SCRIPT", "KILL");
  await busy;
  await subscribed;
  await server.call("PUBLISH", "channel", "after");
  assertEquals(await heard.promise, "after");
});

serverTest("connection: the error for a key of another node of a cluster names the node and the fix", async () => {
  await using stack = new AsyncDisposableStack();
  const start = async () => {
    const args = ["--cluster-enabled", "yes", "--cluster-port", `${await freePort()}`];
    return stack.use(await RedisServer.start({ args: [...args, "--cluster-require-full-coverage", "no"] }));
  };
  const [asked, owner] = [await start(), await start()];
  await owner.call("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
  const [, busPort] = await owner.call("CONFIG", "GET", "cluster-port") as string[];
  await asked.call("CLUSTER", "MEET", "127.0.0.1", `${owner.port}`, busPort!);
  await using connection = use({ url: asked.url });
  while (!/cluster_slots_ok:16384/.test(String(await asked.call("CLUSTER", "INFO"))));
  const error = await failure(connection.run(PUSH, "list", [1], { retry: "always" }));
  assertEquals(
    error.message,
    `Cannot use Redis at 127.0.0.1:${asked.port}: it is a node of a cluster, and this queue's keys belong to node ` +
      `127.0.0.1:${owner.port}. Use the option 'cluster' instead of 'url' or 'client'`,
  );
  assertEquals(error.mayHaveRun, false);
  assert(/^MOVED /.test((error.cause as Error).message));
});

redisTest("connection: a key that moves to another node of a cluster is an error, too", async ({ url }) => {
  await using connection = use({ url });
  const ask = createScript(`return redis.error_reply("ASK 866 10.0.0.2:6379")`);
  assertStringIncludes((await failure(connection.run(ask, "list", []))).message, "belong to node 10.0.0.2:6379");
});

redisTest(
  "connection: a server that does not know the first line of scripts gets them without that line",
  async ({ url }) => {
    await using connection = use({ url });
    const reply = "ERR Error compiling script (new function): user_script:1: unexpected symbol near '#'"; // of Redis 6
    const script = createScript("#!lua flags=allow-oom\nreturn redis.call('RPUSH', KEYS[1], ARGV[1])");
    const refusing = { ...createScript(`#!lua\nreturn redis.error_reply("${reply}")`), headless: script.headless };
    const calls = ["a", "b", "c"].map((text) => connection.run(refusing, "list", [text]));
    assertEquals(await Promise.all(calls), [1, 2, 3]);
    assertEquals(await connection.run(script, "list", ["d"]), 4);
    const without = createScript(`return redis.error_reply("${reply}")`);
    await assertRejects(() => connection.run(without, "list", []), Error, reply);
  },
);

serverTest("connection: while the server accepts no more connections, calls are queued", async () => {
  await using server = await RedisServer.start({ args: ["--maxclients", "1"] });
  const other = createClient({ url: server.url });
  await other.connect();
  await using connection = use({ url: server.url });
  const call = connection.run(PUSH, "list", [1]);
  while (!/rejected_connections:[1-9]/.test(await other.info("stats")));
  other.destroy();
  assertEquals(await call, 1);
});

redisTest("connection: after a reconnect, calls of onReconnect come before all others", async ({ url, call }) => {
  await using proxy = await RedisProxy.start(url);
  await using connection = use({ url: proxy.url });
  const key = uniqueName("list");
  await connection.run(PUSH, key, ["first"]);
  const restored: Promise<unknown>[] = [];
  const off = connection.onReconnect(key, () => restored.push(connection.run(PUSH, key, ["restored"])));
  const lost = proxy.loseReply("second");
  const second = connection.run(PUSH, key, ["second"], { retry: "always" });
  await lost;
  await Promise.all([second, connection.run(PUSH, key, ["third"], { retry: "always" })]);
  assertEquals(await Promise.all(restored), [3]);
  assertEquals(await call("LRANGE", key, "0", "-1"), ["first", "second", "restored", "second", "third"]);

  off();
  proxy.dropAll();
  await connection.run(PUSH, key, ["fourth"], { retry: "always" });
  assertEquals(restored.length, 1);
});

redisTest(
  "connection: a call of onReconnect is not repeated on the next connection, but made anew",
  async ({ url, call }) => {
    await using proxy = await RedisProxy.start(url);
    await using connection = use({ url: proxy.url });
    const key = uniqueName("list");
    await connection.run(PUSH, key, ["first"]);
    const restored: Promise<unknown>[] = [];
    connection.onReconnect(key, () => {
      restored.push(connection.run(PUSH, key, [`restored ${restored.length + 1}`], { retry: "always" }));
      restored.at(-1)!.catch(() => {});
    });
    const lost = proxy.loseReply("restored 1");
    proxy.dropAll();
    await lost;
    await connection.run(PUSH, key, ["second"], { retry: "always" });
    assert((await failure(restored[0]!)).mayHaveRun);
    assertEquals(await call("LRANGE", key, "0", "-1"), ["first", "restored 1", "restored 2", "second"]);
  },
);

serverTest("connection: a call of onReconnect is not repeated after a replica has refused it", async () => {
  await using server = await RedisServer.start();
  await using connection = use({ url: server.url });
  await connection.run(PUSH, "list", ["first"]);
  let rounds = 0;
  connection.onReconnect("list", () => {
    rounds++;
    // The replica refuses the text of the script, and then doesn't know the script.
    for (const name of ["one", "other"]) {
      connection.run(PUSH_AT_ONCE, "list", [`${name} ${rounds}`], { retry: "always" }).catch(() => {});
    }
  });
  await server.call("REPLICAOF", "127.0.0.1", "1");
  const second = connection.run(PUSH, "list", ["second"], { retry: "always" });
  while (rounds < 2) await nextTurn();
  await server.call("REPLICAOF", "NO", "ONE");
  await second;
  const list = await server.call("LRANGE", "list", "0", "-1");
  assertEquals(list, ["first", `one ${rounds}`, `other ${rounds}`, "second"]);
});

redisTest("connection: messages of a channel arrive until the subscription ends", async (server) => {
  await using connection = use({ url: server.url });
  await using other = use({ url: server.url });
  const channel = uniqueName("channel");
  const heard: string[] = [];
  const [both, end] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const off = await connection.subscribe(channel, (payload) => heard.push(`one: ${payload}`));
  const otherOff = await other.subscribe(channel, (payload) => {
    heard.push(`other: ${payload}`);
    (payload === "1" ? both : end).resolve();
  });
  assertEquals(await server.call("PUBLISH", channel, "1"), 1);
  await both.promise;
  off();
  off();
  await server.call("PUBLISH", channel, "2");
  await end.promise;
  assertEquals(heard, ["one: 1", "other: 1", "other: 2"]);
  otherOff();
  while (await server.call("PUBLISH", channel, "3") !== 0); // wait until the server sees no subscriber
});

redisTest(
  "connection: a process that was busy reads pending data before it gives a connection up",
  async (server) => {
    const silence = 150; // on a busy machine, an answer may take tens of milliseconds
    await using connection = use({ url: server.url, silence });
    let resumed = 0;
    await connection.subscribe(uniqueName("channel"), () => {}, () => resumed++);
    for (let i = 0; i < 10; i++) {
      beBusy(2 * silence);
      await nextTurn();
    }
    await connection.subscribe(uniqueName("channel"), () => {}); // reconnects if the first connection was abandoned
    assertEquals(resumed, 0);
  },
);

serverTest("connection: a server that refuses to answer a ping counts as alive", async () => {
  await using server = await RedisServer.start();
  await server.call("ACL", "SETUSER", "default", "-ping");
  await using connection = use({ url: server.url, silence: 200 });
  let resumed = 0;
  await connection.subscribe("channel", () => {}, () => resumed++);
  const statistics = async () => String(await server.call("INFO", "commandstats"));
  while (!/cmdstat_ping:.*rejected_calls=([5-9]|\d\d)/.test(await statistics()));
  assertEquals(resumed, 0);
});

serverTest("connection: a subscription survives a restart, and reports that messages may have been lost", async () => {
  await using server = await RedisServer.start();
  await using connection = use({ url: server.url });
  const resumed = Promise.withResolvers<void>();
  const heard = Promise.withResolvers<string>();
  await connection.subscribe("channel", heard.resolve, resumed.resolve);
  await server.restart();
  await resumed.promise;
  assertEquals(await server.call("PUBLISH", "channel", "again"), 1);
  assertEquals(await heard.promise, "again");
});

redisTest("connection: a channel is waited for until the call timeout", async ({ url }) => {
  await using proxy = await RedisProxy.start(url);
  proxy.refuse();
  await using hasty = use({ url: proxy.url, callTimeout: 10 });
  await using patient = use({ url: proxy.url });
  const subscribed = patient.subscribe("channel", () => {});
  assertStringIncludes((await failure(hasty.subscribe("channel", () => {}))).message, "within 10 ms");
  proxy.refuse(false);
  await subscribed;
});

redisTest("connection: users of one server share a connection, and the last one closes it", async ({ url }) => {
  await using proxy = await RedisProxy.start(url);
  const key = uniqueName("list");
  const [one, other] = [connect("connect", { url: proxy.url }), connect("connect", { url: proxy.url })];
  await Promise.all([one.run(PUSH, key, [1]), other.run(PUSH, key, [2])]);
  for (const name of ["a", "b"]) await one.subscribe(name, () => {});
  await other.subscribe("a", () => {});
  assertEquals(proxy.connections, 2); // one connection for calls, one for messages

  await one.release();
  assertEquals(await other.run(PUSH, key, [3]), 3);
  assertEquals([proxy.connections, proxy.open], [2, 2]);
  await other.release();
  while (proxy.open > 0) await new Promise((resolve) => setTimeout(resolve));

  await using next = use({ url: proxy.url });
  assertEquals(await next.run(PUSH, key, [4]), 4);
  assertEquals(proxy.connections, 3);
});

redisTest("connection: a user that leaves gets its outstanding replies, and can't make more calls", async ({ url }) => {
  const connection = connect("connect", { url });
  const key = uniqueName("list");
  const call = connection.run(PUSH, key, [1]);
  await Promise.all([connection.release(), connection.release()]);
  assertEquals(await call, 1);
  assertStringIncludes((await failure(connection.run(PUSH, key, [2]))).message, "was given back");
  assertStringIncludes((await failure(connection.subscribe("a", () => {}))).message, "was given back");
});

serverTest("connection: a URL names user, password and database; a password is never shown", async () => {
  await using server = await RedisServer.start({
    args: ["--user", "worker", "on", ">s3cr%t", "~*", "&*", "+@all"],
  });
  const url = (password: string, database = "") =>
    server.url.replace("redis://", `redis://worker:${encodeURIComponent(password)}@`) + database;
  await using connection = use({ url: url("s3cr%t", "/3") });
  await connection.run(PUSH, "list", [1]);
  assert(/ db=3 .* user=worker /.test(String(await server.call("CLIENT", "LIST"))));

  await using wrong = use({ url: url("wr0ng", "/3") });
  const error = await failure(wrong.run(PUSH, "list", [1])); // rejects immediately, because waiting doesn't help
  assertStringIncludes(error.message, "WRONGPASS");
  assertStringIncludes((await failure(wrong.subscribe("channel", () => {}))).message, "WRONGPASS");
  await using absent = use({ url: url("s3cr%t", "/16") });
  const { message } = await failure(absent.run(PUSH, "list", [1]));
  assertStringIncludes(message, "DB index is out of range");

  const { inspect } = await import("node:util");
  await server.kill("SIGKILL");
  await using away = use({ url: url("s3cr%t", "/5"), callTimeout: 1 });
  for (const one of [error, await failure(away.run(PUSH, "list", [1]))]) {
    assert(!/s3cr|wr0ng/.test(inspect(one, { depth: 9, showHidden: true })));
  }
});

serverTest("connection: a server that only refuses and hangs up is not redialed in a tight loop", async () => {
  await using server = await RedisServer.start({ args: ["--requirepass", "secret"] });
  await using proxy = await RedisProxy.start(server.url);
  await using connection = use({ url: proxy.url });
  // If a client has sent no password, the server closes its connection when a call has this many arguments.
  const many = Array.from({ length: 20 }, (_, i) => i);
  const ask = () => connection.run(PUSH, "list", many).catch(() => {});
  connection.onReconnect("list", ask);
  await ask();
  await new Promise((resolve) => setTimeout(resolve, 1500));
  assert(proxy.connections >= 2 && proxy.connections <= 8, `${proxy.connections} connections`);
});
