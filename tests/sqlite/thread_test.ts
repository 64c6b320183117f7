/** Tests of queues whose database is in a thread of its own. */

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { runWorkers } from "@workqueue/core";
import { SqliteConnectionError } from "@workqueue/sqlite";
import { DatabaseSync } from "node:sqlite";
import { serveThread } from "@workqueue/sqlite/thread";
import { threadOf } from "../../packages/sqlite/thread/thread.ts";
import { Folder } from "./files.ts";

Deno.test("SQLite, in a thread: adds in the user's transaction wake workers", async () => {
  using folder = new Folder(true);
  await using queue = folder.open();
  const worked: string[] = [];
  runWorkers(queue, (item) => void worked.push(item), { concurrency: 1 });
  await queue.counts();
  const database = new DatabaseSync(folder.path);
  database.exec("PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE");
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

Deno.test("SQLite, in a thread: when the thread ends, calls reject, and a queue that is opened afterwards works", async () => {
  using folder = new Folder(true);
  const queue = folder.open({ onQueueError() {} });
  await queue.add("acknowledged");
  const thread = threadOf(folder.path, true);
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

Deno.test("SQLite, in a thread: the option is a boolean or the URL of a file", async () => {
  using folder = new Folder();
  for (const thread of ["thread.js", new URL("https://example.com/thread.js"), {}, null]) {
    assertThrows(() => folder.open({ thread: thread as never }), TypeError, "'thread' must be a boolean or the URL of");
  }
  for (const thread of ["file:///no/such/thread.js", new URL("file:///no/such/thread.js")]) {
    const queue = folder.open({ thread, onQueueError() {} });
    await assertRejects(() => queue.add("a"), SqliteConnectionError, "its thread has ended");
    await queue.shutDownWithDrain().catch(() => {});
  }
});

Deno.test("SQLite, in a thread: a thread is served only by a thread that a queue started", () => {
  assertThrows(() => serveThread(), Error, "no queue with the option 'thread' started this file");
});
