/** Tests of queues in files, within one process. */

import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { createRetryBudget, runBatches, runWorkers, TerminalError } from "@workqueue/core";
import { createSqliteQueue, SqliteConnectionError, type SqliteQueue, sqliteQueueNames } from "@workqueue/sqlite";
import { writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { DatabaseSync } from "node:sqlite";
import { inspect } from "node:util";
import { SCHEMA_VERSION } from "../../packages/sqlite/database/schema.ts";
import { seeded } from "../redis/faults/seeded.ts";
import { OFTEN } from "../every.ts";
import { fileTest, Folder } from "./files.ts";

fileTest("items are processed once each, even if they were added twice", async (folder) => {
  const queue = folder.open();
  await Promise.all(["a", "b", "a"].map((item) => queue.add(item)));
  const worked: string[] = [];
  const pool = runWorkers(queue, (item) => void worked.push(item), { concurrency: 2 });
  await queue.whenIdle();
  assertEquals(worked, ["a", "b"]);
  await pool.stop();
  await queue.shutDownWithDrain();
});

fileTest("items are processed in batches, and items that fail alone are retried", async (folder) => {
  const queue = folder.open({ limiter: { type: "exponential", baseDelay: 1, maxDelay: 1 } });
  const items = Array.from({ length: 7 }, (_, i) => `item ${i}`);
  await queue.addAll(items);
  const done: string[] = [];
  const failed: string[] = [];
  const pool = runBatches(queue, (batch, context) => {
    assert(batch.length <= 3);
    if (batch.includes("item 4") && context.of("item 4").attempt === 1) throw new Error("bad");
    done.push(...batch);
  }, { size: 3, split: true, onError: (_error, item) => failed.push(item) });
  await queue.whenIdle();
  assertEquals([done.sort(), failed], [items, ["item 4"]]);
  await pool.stop();
  await queue.shutDownWithDrain();
});

fileTest("ready, delayed, failed and given-up items are there when the file is opened again", async (folder) => {
  const first = folder.open();
  await first.addAll(["ready", "failing", "hopeless"]);
  await first.addAfter("delayed", "1h");
  runWorkers(first, (item) => {
    if (item !== "ready") throw new Error(`no ${item}`);
    return new Promise(() => {});
  }, { concurrency: 3, maxRetries: 1, onError() {}, onGiveUp() {} });
  while ((await first.counts()).givenUp < 2);
  first.shutDown();
  const again = folder.open();
  const { ready, delayed, processing, givenUp } = await again.counts();
  assertEquals({ ready, delayed, processing, givenUp }, { ready: 0, delayed: 1, processing: 1, givenUp: 2 });
  await again.shutDownWithDrain();
});

fileTest(
  "many items are added in calls of 200, and if one call fails, the items of the others stay",
  async (folder) => {
    const queue = folder.open({ onQueueError() {} });
    await queue.counts();
    const program = new DatabaseSync(folder.path);
    program.exec(
      "CREATE TRIGGER refuse BEFORE INSERT ON items WHEN NEW.key = 'bad' BEGIN SELECT RAISE(ABORT, 'no'); END",
    );
    program.close();
    const items = Array.from({ length: 1000 }, (_, i) => i === 450 ? "bad" : `${i}`);
    const error = await assertRejects(
      () => queue.addAll(items),
      SqliteConnectionError,
      "no (800 of 1000 items were added)",
    );
    assertEquals([error.mayHaveRun, (await queue.counts()).ready], [true, 800]);
    await queue.addAll(items.filter((item) => item !== "bad"));
    assertEquals((await queue.counts()).ready, 999);
    await queue.shutDownWithDrain();
  },
);

fileTest("calls that are made after an add of many items take effect after it", async (folder) => {
  const queue = folder.open();
  const items = Array.from({ length: 900 }, (_, i) => `${i}`);
  const [, isCancelled] = await Promise.all([queue.addAll(items, { delay: "1h" }), queue.cancelDelayed("899")]);
  await Promise.all([queue.addAll(items), queue.add("last")]);
  const { readyItems } = await queue.snapshot({ limit: 1000 });
  assertEquals([isCancelled, readyItems.length, readyItems.at(-1)!.item], [true, 901, "last"]);
  await queue.shutDownWithDrain();
});

fileTest("a printed queue and its lease have the names of their types", async (folder) => {
  const queue = folder.open({ name: "q" });
  assertEquals(inspect(queue), `SqliteQueue "q" on ${folder.path}: 0 processing here, connected`);
  await queue.add("a");
  const lease = await queue.get();
  assert(!lease.shutdown);
  assertEquals(inspect(lease), 'SqliteLease "a": attempt 1, processing');
  await lease.finish();
  await queue.shutDownWithDrain();
});

fileTest("queues in one file share nothing but the file", async (folder) => {
  const [one, other] = [folder.open({ name: "one" }), folder.open({ name: "other" })];
  await one.add("a");
  assertEquals([(await one.counts()).ready, (await other.counts()).ready], [1, 0]);
  await one.shutDownWithDrain();
  await other.add("b");
  assertEquals((await other.counts()).ready, 1);
  await other.shutDownWithDrain();
});

fileTest("names, keys, groups and errors can have any characters", async (folder) => {
  const parts = [
    "",
    "a",
    "a\0b",
    "a\0",
    "\0",
    "\0\0",
    "\x01",
    "\x01\0",
    "\0\x01",
    "\x01\x02",
    "\x01\x01",
    "é",
    "e\u0301",
    "😀",
  ];
  const names = ["a", "a\0b", "\x01\0"];
  for (const name of names) {
    const queue = folder.open({ name, discipline: { type: "fair", separator: "\0/" }, onQueueError() {} });
    await queue.addAll(parts.map((part) => `${part}\0/${part}`));
    const pool = runWorkers(queue, (item) => {
      throw new TerminalError(item);
    }, { concurrency: 3, onError() {}, onGiveUp() {} });
    while ((await queue.counts()).givenUp < parts.length);
    await pool.stop();
    const { items } = await queue.givenUp();
    assertEquals(
      items.map(({ item, group }) => [item, group]).sort(),
      parts.map((part) => [`${part}\0/${part}`, part]).sort(),
    );
    await queue.redrive({ keys: ["\0\0/\0"] });
    const { readyItems } = await queue.snapshot();
    assertEquals(readyItems.map(({ item }) => item), ["\0\0/\0"]);
    assertEquals(await queue.discard(), parts.length - 1);
    await queue.shutDownWithDrain();
  }
  assertEquals(sqliteQueueNames(folder.path), names.sort());
  assertThrows(() => folder.open({ name: "\ud800" }), TypeError, "without unpaired surrogates");
});

fileTest("a delay, a pause or a rate that lasts for thousands of years stops nothing else", async (folder) => {
  const errors: unknown[] = [];
  const open = () =>
    folder.open({
      discipline: { type: "fair", separator: "/" },
      limiter: { type: "exponential", baseDelay: 1, maxDelay: 1 },
      retryBudget: createRetryBudget({ ratio: 0, minRate: Number.MIN_VALUE }),
      onQueueError: (error) => errors.push(error),
    });
  const queues = [open(), open(), open(), open()];
  const worked: string[] = [];
  const pools = queues.slice(1).map((queue) =>
    runWorkers(queue, (item) => {
      worked.push(item);
      if (item.startsWith("failing/")) throw new Error("no");
      if (item.startsWith("hopeless/")) throw new TerminalError("no");
    }, { concurrency: 1, onError() {}, onGiveUp() {} })
  );
  const [queue] = queues as [SqliteQueue];
  await queue.addAfter("delayed/1", 1e15);
  await queue.pauseGroup("paused", 1e15);
  await queue.addAll(["failing/1", "hopeless/1", "hopeless/2", "paused/1"]);
  while ((await queue.counts()).givenUp < 2);
  await queue.redrive({ rate: Number.MIN_VALUE });
  while ((await queue.snapshot()).blockedRetries! < 1);
  for (const item of ["a", "b", "c"]) await queue.add(item);
  while (!["a", "b", "c"].every((item) => worked.includes(item))) await queue.counts();
  const { delayedItems, blockedGroups, blockedRetries, givenUp } = await queue.snapshot();
  assertEquals([delayedItems[0]!.item, blockedGroups![0]!.group, blockedRetries], ["delayed/1", "paused", 1]);
  assert(givenUp >= 1 && (await queue.stopRedrive())!.redriven === 1);
  await queue.resumeGroup("paused");
  while (!worked.includes("paused/1")) await queue.counts();
  await Promise.all(pools.map((pool) => pool.stop()));
  await Promise.all(queues.map((each) => each.shutDownWithDrain()));
  assertEquals(errors, []);
});

fileTest("while another program writes, an add waits and blocks nothing", async (folder) => {
  const queue = folder.open();
  await queue.counts();
  const program = new DatabaseSync(folder.path);
  program.exec("PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE");
  let isAdded = false;
  const added = queue.add("a").then(() => isAdded = true);
  await sleep(20);
  assertEquals(isAdded, false);
  program.exec("COMMIT");
  await added;
  assertEquals((await queue.counts()).ready, 1);
  program.close();
  await queue.shutDownWithDrain();
});

fileTest("an add rejects when another program writes for longer than the call timeout", async (folder) => {
  const errors: unknown[] = [];
  const queue = folder.open({ callTimeout: "100ms", onQueueError: (error) => errors.push(error) });
  await queue.counts();
  const program = new DatabaseSync(folder.path);
  program.exec("PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE");
  const error = await assertRejects(() => queue.add("a"), SqliteConnectionError, "another connection has locked it");
  assertEquals([error.code, error.mayHaveRun, errors.includes(error)], ["WQ_CONNECTION", false, true]);
  program.exec("ROLLBACK");
  program.close();
  await queue.add("b");
  assertEquals((await queue.counts()).ready, 1);
  await queue.shutDownWithDrain();
});

Deno.test("SQLite: a file with another version of the tables, and a file that is not a database, are refused", async () => {
  using folder = new Folder();
  const queue = folder.open();
  await queue.addAfter("a", "1h");
  await queue.shutDownWithDrain();
  const program = new DatabaseSync(folder.path);
  for (const version of [-1, SCHEMA_VERSION + 1, 99]) {
    program.exec(`PRAGMA user_version = ${version}`);
    assertThrows(
      () => folder.open(),
      Error,
      `Cannot open ${folder.path}: it has version ${version} of the tables, and this release uses version ` +
        `${SCHEMA_VERSION}. Use the release that wrote it, or another file`,
    );
    assertEquals(program.prepare("PRAGMA user_version").get()!.user_version, version, "it is unchanged");
  }
  program.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
  program.close();
  await using again = folder.open();
  assertEquals((await again.counts()).delayed, 1);
  using other = new Folder();
  writeFileSync(other.path, "no database ".repeat(1000));
  assertThrows(() => other.open(), Error, "Cannot open");
});

Deno.test("SQLite: wrong options are refused", () => {
  const create = (options: object) => () => createSqliteQueue(options as never);
  assertThrows(create({ path: "q.db" }), TypeError, "Cannot create SQLite queue: 'name' must be a non-empty string");
  assertThrows(create({ name: "q" }), TypeError, "'path' must be a non-empty string");
  for (const path of [":memory:", "file:q.db"]) {
    assertThrows(create({ name: "q", path }), TypeError, "'path' must be the path of a file, such as queue.db");
  }
  assertThrows(create({ name: "q", path: "q.db", url: "x" }), TypeError, '"url" is not an option here');
  assertThrows(create({ name: "q", path: "q.db", clock: () => 0 }), TypeError, "on SQLite");
  assertThrows(create({ name: "q", path: "/no/such/folder/q.db" }), Error, "Cannot open /no/such/folder/q.db");
});

fileTest("calls that share a transaction do the same as calls one after the other", async ({ thread }) => {
  const random = seeded(1);
  const below = (limit: number) => Math.floor(random() * limit);
  for (let run = 0; run < (thread || !OFTEN ? 3 : 20); run++) {
    const calls = Array.from({ length: 60 }, (): (queue: SqliteQueue) => Promise<unknown> => {
      const key = `${"ab"[below(2)]}/${below(8)}`;
      const [priority, hours, other] = [below(4), 1 + below(5), `c/${below(8)}`];
      return [
        (queue: SqliteQueue) => queue.add(key, { priority }),
        (queue: SqliteQueue) => queue.addAfter(key, `${hours}h`, { priority }),
        (queue: SqliteQueue) => queue.cancelDelayed(key),
        (queue: SqliteQueue) => queue.promoteDelayed(key),
        (queue: SqliteQueue) => queue.addAll([key, other]),
      ][below(5)]!;
    });
    const within = { type: "priority", min: 0, max: 3, maxHeadStart: "unlimited" } as const;
    const result = async (make: (queue: SqliteQueue) => Promise<unknown>) => {
      using folder = new Folder(thread);
      const queue = folder.open({ discipline: { type: "fair", separator: "/", within } });
      const replies = await make(queue);
      const { readyItems, delayedItems } = await queue.snapshot({ limit: 100 });
      await queue.shutDownWithDrain();
      return [replies, readyItems, delayedItems.map(({ item, priority }) => [item, priority])];
    };
    const together = await result((queue) => Promise.all(calls.map((call) => call(queue))));
    const oneByOne = await result(async (queue) => {
      const replies: unknown[] = [];
      for (const call of calls) replies.push(await call(queue));
      return replies;
    });
    assertEquals(together, oneByOne);
  }
});
