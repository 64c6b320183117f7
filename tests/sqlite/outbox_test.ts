/** Tests of adds in a transaction of the user. */

import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { runWorkers } from "@workqueue/core";
import type { SqliteConnection } from "@workqueue/sqlite";
import { DatabaseSync } from "node:sqlite";
import { Folder } from "./files.ts";

type Exec = SqliteConnection & { exec(sql: string): unknown; close(): void };

/** Opens a connection of each kind that this runtime has. */
const CONNECTIONS: Record<string, (path: string) => Promise<Exec>> = {
  "node:sqlite": (path) => Promise.resolve(new DatabaseSync(path, { timeout: 5000 })),
  "node:sqlite that reads bigints and arrays": (path) => {
    const options: object = { timeout: 5000, readBigInts: true, returnArrays: true };
    return Promise.resolve(new DatabaseSync(path, options));
  },
};
if ("Bun" in globalThis) {
  CONNECTIONS["bun:sqlite"] = async (path) => {
    const name = "bun:sqlite"; // a literal is looked for by Deno
    const { Database } = await import(name) as { Database: new (path: string) => Exec };
    return new Database(path);
  };
  CONNECTIONS["bun:sqlite that reads bigints"] = async (path) => {
    const name = "bun:sqlite";
    const { Database } = await import(name) as { Database: new (path: string, options: object) => Exec };
    return new Database(path, { safeIntegers: true, readwrite: true, create: true });
  };
}

for (const [kind, open] of Object.entries(CONNECTIONS)) {
  const name = (what: string) => `SQLite: addWithin, with ${kind}: ${what}`;

  Deno.test(name("items and rows are committed together, and workers of any process are told"), async () => {
    using folder = new Folder();
    await using queue = folder.open<{ id: string }>({ keyOf: ({ id }: { id: string }) => id } as never);
    const database = await open(folder.path);
    database.exec("CREATE TABLE orders (id TEXT)");
    const worked: string[] = [];
    const pool = runWorkers(queue, ({ id }) => void worked.push(id), { concurrency: 2 });
    database.exec("PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE; INSERT INTO orders VALUES ('a')");
    queue.addWithin(database, [{ id: "a" }, { id: "b" }], {
      delay: ({ id }) => id === "b" ? "1h" : 0,
      priority: 3,
    });
    assertEquals(worked, []);
    database.exec("COMMIT");
    while (worked.length < 1) await queue.counts();
    const { delayed, ready, delayedItems } = await queue.snapshot();
    assertEquals([worked, ready, delayed, delayedItems[0]!.item.id], [["a"], 0, 1, "b"]);
    database.close();
    await pool.stop();
  });

  Deno.test(name("a delayed key that it adds is ready in its place"), async () => {
    using folder = new Folder();
    await using queue = folder.open({ discipline: { type: "fair", separator: "/", maxPerGroup: 2 } });
    await queue.addAfter("a/1", "1h");
    await queue.addAll(["a/2", "a/3"]);
    const database = await open(folder.path);
    database.exec("PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE");
    queue.addWithin(database, ["a/1", "b/1"]);
    database.exec("COMMIT");
    database.close();
    const { readyItems, blocked } = await queue.snapshot();
    assertEquals([readyItems.map(({ item }) => item), blocked], [["a/2", "b/1", "a/3"], 1]);
  });

  Deno.test(name("a transaction that is rolled back adds nothing"), async () => {
    using folder = new Folder();
    await using queue = folder.open();
    await queue.add("before");
    const database = await open(folder.path);
    database.exec("PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE");
    queue.addWithin(database, ["a", "before"]);
    database.exec("ROLLBACK");
    assertEquals((await queue.snapshot()).readyItems.map(({ item }) => item), ["before"]);
    assertEquals((await queue.counts()).ready, 1);
    database.close();
  });

  Deno.test(name("calls of the queue wait for the transaction, without blocking"), async () => {
    using folder = new Folder();
    await using queue = folder.open();
    await queue.counts();
    const database = await open(folder.path);
    database.exec("PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE");
    queue.addWithin(database, ["a"]);
    const added = queue.add("b");
    queue.addWithin(database, ["c"]);
    database.exec("COMMIT");
    await added;
    assertEquals((await queue.snapshot()).readyItems.map(({ item }) => item), ["a", "c", "b"]);
    database.close();
  });

  Deno.test(name("an invalid call changes nothing, and the transaction goes on"), async () => {
    using folder = new Folder();
    using other = new Folder();
    await using queue = folder.open();
    await queue.counts();
    const [database, stranger] = await Promise.all([open(folder.path), open(other.path)]);
    const memory = await open(":memory:");
    const message = (call: () => void) => assertThrows(call, Error).message;
    assertMatch(message(() => queue.addWithin(database, ["a"])), /no open transaction. Begin one first/);
    for (const wrong of [stranger, memory]) {
      wrong.exec("PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE");
      assertMatch(message(() => queue.addWithin(wrong, ["a"])), /the connection is to .*, and not to .*queue\.db/);
    }
    database.exec("PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE");
    queue.addWithin(database, ["a"]);
    assertMatch(message(() => queue.addWithin(database, ["b", 3 as never])), /must be a string/);
    assertMatch(message(() => queue.addWithin(database, ["b"], { delay: "soon" as never })), /delay/);
    assertMatch(message(() => queue.addWithin({} as never, ["b"])), /'connection' must be a connection to the file/);
    assertMatch(message(() => queue.addWithin(database, "b")), /iterable of items/);
    database.exec("COMMIT");
    assertEquals((await queue.snapshot()).readyItems.map(({ item }) => item), ["a"]);
    await queue.shutDownWithDrain();
    assertMatch(message(() => queue.addWithin(database, ["b"])), /was shut down/);
    for (const connection of [database, stranger, memory]) connection.close();
  });
}

Deno.test("SQLite: addWithin: a connection of another copy of SQLite, whose lock does not hold, is refused", async () => {
  using folder = new Folder();
  using other = new Folder();
  await using queue = folder.open();
  await using otherQueue = other.open();
  await Promise.all([queue.add("before"), otherQueue.counts()]);
  // A second copy is imitated: the transaction of this connection locks another file.
  const database = new DatabaseSync(other.path);
  const stranger: SqliteConnection = {
    prepare: (sql) => database.prepare(sql.replace("SELECT file FROM", `SELECT '${folder.path}' AS file FROM`)),
    get isTransaction() {
      return database.isTransaction;
    },
  };
  database.exec("PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE");
  assertThrows(() => queue.addWithin(stranger, ["a"]), Error, "comes from another copy of SQLite than node:sqlite");
  database.exec("COMMIT");
  assertEquals([(await queue.counts()).ready, (await otherQueue.counts()).ready], [1, 0]);
  database.close();
});

Deno.test("SQLite: addWithin: an error of SQLite undoes only the items", async () => {
  using folder = new Folder();
  await using queue = folder.open();
  await queue.add("before");
  const database = new DatabaseSync(folder.path);
  database.exec(
    "PRAGMA busy_timeout = 5000; CREATE TABLE orders (id TEXT); BEGIN IMMEDIATE; INSERT INTO orders VALUES ('a')",
  );
  const { page_count } = database.prepare("PRAGMA page_count").get() as { page_count: number };
  database.exec(`PRAGMA max_page_count = ${page_count}`); // as if the disk were full
  assertThrows(() => queue.addWithin(database, Array.from({ length: 1000 }, (_, i) => `item ${i}`)), Error, "full");
  if (database.isTransaction) database.exec("COMMIT");
  const orders = database.prepare("SELECT COUNT(*) AS n FROM orders").get() as { n: number };
  assertEquals([(await queue.counts()).ready, orders.n <= 1], [1, true]);
  database.close();
});
