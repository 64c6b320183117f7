/** Tests of the test tools: the real server, and the proxy between the server and a client. */

import { assert, assertEquals, assertRejects } from "@std/assert";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { runtimes } from "../runtimes.ts";
import { redisTest, serverTest, uniqueName } from "./redis_tests.ts";
import { RedisProxy } from "./proxy.ts";
import { callRedis, RedisServer } from "./server.ts";

redisTest("server: a server shared by tests answers", async ({ url, call }) => {
  const key = uniqueName("key");
  await call("SET", key, "value", "EX", "60");
  assertEquals(await callRedis(url, "GET", key), "value");
});

serverTest("server: a restart keeps the data in its files, and nothing else", async () => {
  await using durable = await RedisServer.start({ appendonly: true });
  await using forgetful = await RedisServer.start();
  for (const server of [durable, forgetful]) {
    await server.call("SET", "key", "value");
    await server.restart();
  }
  assertEquals([await durable.call("GET", "key"), await forgetful.call("GET", "key")], ["value", null]);
});

serverTest("server: it accepts options, and an invalid option is printed", async () => {
  await using server = await RedisServer.start({ maxmemory: "2mb", args: ["--databases", "3"] });
  assertEquals(await server.call("CONFIG", "GET", "maxmemory"), ["maxmemory", String(2 * 1024 * 1024)]);
  assertEquals(await server.call("CONFIG", "GET", "databases"), ["databases", "3"]);
  await assertRejects(() => RedisServer.start({ args: ["--nonsense", "1"] }), Error, "nonsense");
});

serverTest("server: after disposing, nothing is left of it, stopped or not", async () => {
  const server = await RedisServer.start();
  await server.kill("SIGSTOP");
  await server[Symbol.asyncDispose]();
  assert(!existsSync(server.folder));
  await assertRejects(() => server.call("PING"));
});

redisTest("proxy: a reply is lost although the request arrived", async ({ url, call }) => {
  await using proxy = await RedisProxy.start(url);
  const key = uniqueName("key");
  assertEquals(await callRedis(proxy.url, "INCR", key), 1);
  const lost = proxy.loseReply(key);
  await assertRejects(() => callRedis(proxy.url, "INCR", key));
  await lost;
  assertEquals(await call("GET", key), "2");
  await call("DEL", key);
});

redisTest("proxy: connections are dropped, refused, and delayed until they are let through", async ({ url }) => {
  await using proxy = await RedisProxy.start(url);
  proxy.refuse();
  await assertRejects(() => callRedis(proxy.url, "PING"));
  proxy.refuse(false);

  proxy.hold();
  const dropped = callRedis(proxy.url, "PING");
  while (proxy.connections < 2) await new Promise((resolve) => setTimeout(resolve));
  proxy.dropAll();
  await assertRejects(() => dropped);

  const processing = callRedis(proxy.url, "PING");
  while (proxy.connections < 3) await new Promise((resolve) => setTimeout(resolve));
  proxy.hold(false);
  assertEquals(await processing, "PONG");
});

serverTest("server: it ends with the process that started it, however that process ends", async () => {
  const [file, ...options] = await runtimes["Deno"]!();
  const child = spawn(file!, [...options, fileURLToPath(new URL("start_server.ts", import.meta.url))]);
  const ended = once(child, "exit");
  const [url] = await once(createInterface(child.stdout), "line");
  assertEquals(await callRedis(url, "PING"), "PONG");
  child.kill("SIGKILL");
  await ended;
  while (await callRedis(url, "PING").then(() => true, () => false)); // wait until the server has been killed
});
