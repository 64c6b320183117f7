/** Tests of `sqliteQueueNames`. */

import { assertEquals, assertThrows } from "@std/assert";
import { loadConfig } from "@workqueue/core";
import { sqliteQueueNames, sqliteQueues } from "@workqueue/sqlite";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Folder } from "./files.ts";

Deno.test("SQLite: every queue that was used in a file is listed by its name, also while it is open", async () => {
  using folder = new Folder();
  for (const name of ["b", "a"]) {
    const queue = folder.open({ name });
    await queue.add("item");
    assertEquals(sqliteQueueNames(folder.path), name === "b" ? ["b"] : ["a", "b"]);
    await queue.shutDownWithDrain();
  }
  assertEquals(sqliteQueueNames(folder.path), ["a", "b"]);
});

Deno.test("SQLite: a throttle in a file is not a queue", async () => {
  using folder = new Folder();
  const config = loadConfig({ queues: { images: { throttle: { type: "concurrency", limit: 1 } } } });
  const queue = sqliteQueues(config, { path: folder.path }).queue("images");
  const pool = config.runWorkers("images", queue, () => {});
  await queue.add("item");
  await queue.whenIdle();
  assertEquals(sqliteQueueNames(folder.path), ["images"]);
  await pool.stop();
  await queue.shutDownWithDrain();
});

Deno.test("SQLite: looking for queues creates no file, and changes none", () => {
  using folder = new Folder();
  assertEquals(sqliteQueueNames(folder.path), []);
  assertEquals(existsSync(folder.path), false);
  writeFileSync(folder.path, "");
  assertEquals(sqliteQueueNames(folder.path), []);
  assertEquals(readFileSync(folder.path).length, 0);
  const database = new DatabaseSync(folder.path);
  database.exec("CREATE TABLE orders (id TEXT)");
  database.close();
  assertEquals(sqliteQueueNames(folder.path), []);
  assertEquals(readdirSync(dirname(folder.path)), ["queue.db"]);
});

Deno.test("SQLite: looking for queues in an unreadable file fails with the reason", async () => {
  using folder = new Folder();
  const open = folder.open();
  await open.add("item");
  await open.shutDownWithDrain();
  const database = new DatabaseSync(folder.path);
  database.exec("PRAGMA user_version = 99");
  database.close();
  assertThrows(() => sqliteQueueNames(folder.path), Error, "queue.db: it has version 99 of the tables");
  writeFileSync(folder.path, "not a database".repeat(1000));
  assertThrows(() => sqliteQueueNames(folder.path), Error, "queue.db: it is damaged, or no SQLite database");
  mkdirSync(`${folder.path}.d`);
  assertThrows(() => sqliteQueueNames(`${folder.path}.d`), Error, "queue.db.d: it is a folder");
});
