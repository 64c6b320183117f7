/** Tests of files that are opened while another program has locked them. */

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { createSqliteQueue, SqliteConnectionError } from "@workqueue/sqlite";
import { DatabaseSync } from "node:sqlite";
import { fileTest } from "./files.ts";

/** Opens a file with another program, which has begun to write. */
function lock(path: string, mode: string, begin = "BEGIN IMMEDIATE"): DatabaseSync {
  const program = new DatabaseSync(path);
  program.exec(`PRAGMA journal_mode = ${mode}; CREATE TABLE IF NOT EXISTS mine (id TEXT)`);
  program.exec(`${begin}; INSERT INTO mine VALUES ('x')`);
  return program;
}

const LOCKS = [["wal", "BEGIN IMMEDIATE"], ["delete", "BEGIN IMMEDIATE"], ["delete", "BEGIN EXCLUSIVE"]] as const;

// The program is in the same thread, so a queue that blocked the event loop would block the program's end too.
for (const [mode, begin] of LOCKS) {
  fileTest(
    `rule 21: a file in mode ${mode} that another program has locked by ${begin} is opened later, without blocking`,
    async (folder) => {
      const program = lock(folder.path, mode, begin);
      const queues = [folder.open(), folder.open({ name: "other" })];
      const added = queues.map((queue) => queue.add("a"));
      let isAdded = false;
      Promise.all(added).then(() => isAdded = true);
      await assertRejects(
        () => folder.open({ callTimeout: "100ms", onQueueError() {} }).counts(),
        SqliteConnectionError,
        "within 100 ms: another connection has locked it",
      );
      assert(!isAdded);
      program.exec("COMMIT");
      await Promise.all(added);
      for (const queue of queues) assertEquals((await queue.counts()).ready, 1);
      assertEquals(program.prepare("SELECT id FROM mine").all().length, 1);
      program.close();
      for (const queue of queues) await queue.shutDownWithDrain();
    },
  );
}

fileTest("an idle worker of a file that was locked when it was opened learns of adds", async (folder) => {
  const program = lock(folder.path, "delete");
  const [worker, adder] = [folder.open(), folder.open()];
  const lease = worker.get();
  program.exec("COMMIT");
  program.close();
  await adder.add("a");
  const got = await lease;
  assert(!got.shutdown && got.item === "a");
  await got.finish();
  await worker.shutDownWithDrain();
  await adder.shutDownWithDrain();
});

fileTest("a locked file that turns out to be unusable rejects each call with the reason", async (folder) => {
  const program = lock(folder.path, "delete");
  const queue = folder.open({ onQueueError() {} });
  program.exec("PRAGMA user_version = 5; COMMIT");
  for (const item of ["a", "b"]) {
    const error = await assertRejects(() => queue.add(item), SqliteConnectionError);
    assert(error.message.includes("queue.db: another program has set its user_version to 5"), error.message);
    assertEquals(error.mayHaveRun, false);
  }
  assertThrows(() => folder.open(), Error, "Cannot open");
  program.exec("PRAGMA user_version = 0");
  program.close();
  await queue.add("c");
  await queue.shutDownWithDrain();
});

fileTest(
  "a queue that is shut down before its locked file could be opened leaves no file of its own",
  async (folder) => {
    const program = lock(folder.path, "delete");
    await createSqliteQueue({ name: "queue", path: folder.path, callTimeout: "100ms", onQueueError() {} })
      .shutDownWithDrain().catch(() => {});
    program.exec("COMMIT");
    assertEquals(program.prepare("SELECT name FROM sqlite_schema").all().length, 1);
    program.close();
  },
);
