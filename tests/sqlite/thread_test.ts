/** Tests of queues whose database is in a thread of its own. */

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { runWorkers } from "@workqueue/core";
import { SqliteConnectionError } from "@workqueue/sqlite";
import { DatabaseSync } from "node:sqlite";
import { threadOf } from "../../packages/sqlite/thread/thread.ts";
import { Folder } from "./files.ts";

Deno.test("SQLite, in a thread: adds in the user's transaction wake workers", async () => {
  using folder = new Folder(true);
  await using queue = folder.open();
  const worked: string[] = [];
  runWorkers(queue, (item) => void worked.push(item), { concurrency: 1 });
  await queue.counts();
  const database = new DatabaseSync(folder.path);
  database.exec("BEGIN IMMEDIATE");
  queue.addWithin(database, ["a"]);
  database.exec("COMMIT");
  while (worked.length < 1) await queue.counts();
  database.close();
});

Deno.test("SQLite, in a thread: a file that can't be opened is refused at once", async () => {
  using folder = new Folder(true);
  assertThrows(() => folder.open({ path: `${folder.path}/no/queue.db` }), Error, "Cannot open");
  await folder.open().shutDownWithDrain();
  const database = new DatabaseSync(folder.path);
  database.exec("PRAGMA user_version = 99");
  database.close();
  assertThrows(() => folder.open(), Error, "it has version 99 of the tables");
});

Deno.test("SQLite, in a thread: when the thread ends, calls reject, and a queue that is opened then works", async () => {
  using folder = new Folder(true);
  const queue = folder.open({ onQueueError() {} });
  await queue.add("acknowledged");
  const thread = threadOf(folder.path);
  await assertRejects(() => thread.call(-1, "counts", []), Error); // an error in the thread does not end it
  await queue.add("a");
  const lost = queue.add("in doubt");
  await Promise.all([
    thread.end(),
    assertRejects(() => lost, SqliteConnectionError, "its thread has ended").then(({ mayHaveRun }) =>
      assert(mayHaveRun)
    ),
  ]);
  const error = await assertRejects(() => queue.add("b"), SqliteConnectionError, "its thread has ended");
  assertEquals(error.mayHaveRun, false);
  queue.shutDown();
  await using again = folder.open();
  assert((await again.counts()).ready >= 2);
});
