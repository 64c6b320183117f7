/** Tests of queues in files that a config document describes. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { ConfigError, loadConfig } from "@workqueue/core";
import { sqliteQueues } from "@workqueue/sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { fileTest, Folder } from "./files.ts";

fileTest("a document's queue has its limiter and pool, and follows reloads", async (folder) => {
  const document = (maxRetries: number) => ({
    queues: { images: { maxRetries, limiter: { type: "exponential", baseDelay: "1ms", maxDelay: "1ms" } } },
  });
  const config = loadConfig(document(1));
  const queue = sqliteQueues(config, { path: folder.path, thread: folder.thread }).queue("images");
  let attempts = 0;
  const pool = config.runWorkers("images", queue, () => {
    attempts++;
    throw new Error("no");
  }, { onError() {}, onGiveUp() {} });
  await queue.add("a");
  while ((await queue.counts()).givenUp < 1);
  config.reload(document(3));
  await queue.add("b");
  while ((await queue.counts()).givenUp < 2);
  assertEquals(attempts, 2 + 4);
  await pool.stop();
  await queue.shutDownWithDrain();
});

fileTest("all configs that use a file have the same shared throttle", async (folder) => {
  const document = {
    throttles: { api: { type: "concurrency", limit: 2 } },
    queues: { one: { throttle: "api", concurrency: 4 }, other: { throttle: "api", concurrency: 4 } },
  };
  let [running, most, done] = [0, 0, 0];
  const opened = ["one", "other"].map((name) => {
    const config = loadConfig(document);
    const queue = sqliteQueues(config, { path: folder.path, thread: folder.thread }).queue(name);
    const pool = config.runWorkers(name, queue, async () => {
      most = Math.max(most, ++running);
      await sleep(2);
      running--;
      done++;
    });
    return { queue, pool };
  });
  await Promise.all(opened.map(({ queue }) => queue.addAll(Array.from({ length: 20 }, (_, i) => `${i}`))));
  await Promise.all(opened.map(({ queue }) => queue.whenIdle()));
  assertEquals([most, done], [2, 40]);
  for (const { queue, pool } of opened) {
    await pool.stop();
    await queue.shutDownWithDrain();
  }
});

fileTest("all processes share a bucket of a document, and its tokens are stored in the file", async (folder) => {
  const document = { queues: { mails: { throttle: { rate: 0.001, burst: 3 } } } };
  const run = async (tokens: number) => {
    const config = loadConfig(document);
    const queue = sqliteQueues(config, { path: folder.path, thread: folder.thread }).queue("mails");
    let begun = 0;
    const pool = config.runWorkers("mails", queue, () => void begun++, { concurrency: 1 });
    await queue.addAll(["a", "b"].map((item) => `${item} ${crypto.randomUUID()}`));
    while (begun < tokens) await sleep(5);
    await sleep(100); // time in which another attempt would begin
    await pool.stop();
    await queue.shutDownWithDrain();
    return begun;
  };
  assertEquals([await run(2), await run(1), await run(0)], [2, 1, 0]);
});

Deno.test("SQLite: documents and options that can't work in a file are refused", () => {
  using folder = new Folder();
  const bucket = { type: "bucket", rate: 1, burst: 1 };
  const shared = loadConfig({ limiters: { api: bucket }, queues: { a: { limiter: "api" }, b: { limiter: "api" } } });
  const error = assertThrows(() => sqliteQueues(shared, { path: folder.path }).queue("a"), ConfigError);
  assert(error.message.includes("queues that processes share cannot share a bucket"), error.message);
  const config = loadConfig({ queues: { a: {} } });
  assertThrows(() => sqliteQueues(config, {} as never), TypeError, "'path' must be a non-empty string");
  assertThrows(() => sqliteQueues({} as never, { path: folder.path }), TypeError, "must be a config");
  const { queue } = sqliteQueues(config, { path: folder.path, thread: folder.thread });
  assertThrows(() => queue("b"), RangeError);
  assertThrows(() => queue("a", { limiter: "x" } as never), TypeError);
});
