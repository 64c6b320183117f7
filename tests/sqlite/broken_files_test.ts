/** Tests of files that are broken, full, removed, or used from elsewhere. Each has an error that says so. */

import { assert, assertEquals, assertMatch, assertRejects, assertThrows } from "@std/assert";
import { delay } from "@std/async";
import { runWorkers } from "@workqueue/core";
import { createSqliteQueue, SqliteConnectionError, sqliteQueueNames } from "@workqueue/sqlite";
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Worker } from "node:worker_threads";
import { Database } from "../../packages/sqlite/database/database.ts";
import { mountsIn, networkTypeOf } from "../../packages/sqlite/database/mounts.ts";
import { realPathOf } from "../../packages/sqlite/database/place.ts";
import { SCHEMA_VERSION } from "../../packages/sqlite/database/schema.ts";
import { fileTest, Folder } from "./files.ts";

const MANY = Array.from({ length: 2000 }, (_, i) => `item ${i}`);

function errorOf(call: Promise<unknown>): Promise<SqliteConnectionError> {
  return assertRejects(() => call, SqliteConnectionError);
}

const noErrors = { onQueueError() {} };

Deno.test("rule 21: if the file, log or shared memory is removed, moved or replaced, no more adds are acknowledged", async () => {
  const ways: [RegExp, (path: string) => void][] = [
    [/queue\.db was removed or replaced while it was open. Restart all processes/, (path) => rmSync(path)],
    [/queue\.db was removed or replaced/, (path) => renameSync(path, `${path}.old`)],
    [/queue\.db was removed or replaced/, (path) => {
      copyFileSync(path, `${path}.copy`);
      renameSync(`${path}.copy`, path);
    }],
    [/queue\.db-wal was removed or replaced/, (path) => rmSync(`${path}-wal`)],
    [/queue\.db-shm was removed or replaced/, (path) => rmSync(`${path}-shm`)],
    [/queue\.db-shm was removed or replaced/, (path) => { // another program creates it again
      rmSync(`${path}-shm`);
      const program = new DatabaseSync(path);
      program.prepare("SELECT 1 FROM items").get();
      program.close();
    }],
    [/queue\.db was removed or replaced/, (path) => { // as rsync does
      const { atime, mtime } = statSync(dirname(path));
      renameSync(path, `${path}.old`);
      utimesSync(dirname(path), atime, mtime);
    }],
  ];
  // A folder that has not changed for a while is known, on Deno after 2 s.
  await Promise.all(ways.flatMap(([message, change]) =>
    [0, 50, 2500].map(async (age) => {
      using folder = new Folder();
      const queue = folder.open(noErrors);
      await queue.add("a");
      await delay(age);
      await queue.add("b");
      change(folder.path);
      const { message: found, code, mayHaveRun } = await errorOf(queue.add("c"));
      assertMatch(found, message);
      assertEquals([code, mayHaveRun], ["WQ_CONNECTION", false]);
      await errorOf(queue.add("d"));
      await queue.shutDownWithDrain().catch(() => {});
    })
  ));
});

fileTest("a file in use whose log or shared memory was removed is not opened until nobody uses it", async (folder) => {
  const { path } = folder;
  await folder.open().shutDownWithDrain();
  for (const removed of [["-shm"], ["-wal"], ["-wal", "-shm"]]) {
    const program = new DatabaseSync(path); // has the file open, as another process would
    program.prepare("SELECT 1 FROM items").get();
    for (const suffix of removed) rmSync(path + suffix);
    const queue = folder.open({ callTimeout: "100ms", ...noErrors });
    const message = `uses it without ${path}${removed[0]}, which was removed. If it was removed, restart all processes`;
    for (const item of ["a", "b"]) {
      const error = await errorOf(queue.add(item));
      assert(error.message.includes(message), error.message);
      assertEquals(error.mayHaveRun, false);
    }
    assertThrows(() => sqliteQueueNames(path), Error, message);
    program.close();
    await queue.add(`after ${removed}`);
    await queue.shutDownWithDrain();
  }
  await using queue = folder.open();
  assertEquals((await queue.snapshot()).readyItems.map(({ item }) => item), [
    "after -shm",
    "after -wal",
    "after -wal,-shm",
  ]);
});

fileTest("once another release has changed the tables, no call of a running process changes them", async (folder) => {
  const changes = [
    "ALTER TABLE items ADD COLUMN extra INTEGER NOT NULL DEFAULT 7",
    "ALTER TABLE items RENAME COLUMN place TO ready_at",
    "CREATE TABLE more (id TEXT)",
  ];
  for (const [i, change] of changes.entries()) {
    const path = `${folder.path}.${i}.db`;
    const queue = folder.open({ path, ...noErrors });
    await queue.addAll(["a", "b"]);
    const held = await queue.get();
    assert(!held.shutdown);
    const later = new DatabaseSync(path, { timeout: 5000 });
    later.exec(
      `PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE; ${change}; PRAGMA user_version = ${SCHEMA_VERSION + 1}; COMMIT`,
    );
    const before = later.prepare("SELECT key, token FROM items").all();
    const versions = `it has version ${
      SCHEMA_VERSION + 1
    } of the tables, and this release uses version ${SCHEMA_VERSION}`;
    const message = `${versions}. Use the release that wrote it`;
    for (let tries = 0; tries < 2; tries++) {
      const calls = [queue.add("c"), queue.addAfter("c", 1000), queue.pause(), held.finish(), queue.counts()];
      for (const result of await Promise.allSettled(calls)) {
        assert(result.status === "rejected" && result.reason instanceof SqliteConnectionError);
        assert(result.reason.message.includes(message), result.reason.message);
        assertEquals(result.reason.mayHaveRun, false);
      }
    }
    later.exec("PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE");
    assertThrows(() => queue.addWithin(later, ["c"]), Error, message);
    later.exec("COMMIT");
    assertEquals(later.prepare("SELECT key, token FROM items").all(), before);
    // The release is rolled back, and its change does not matter here.
    later.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`);
    if (i === 2) await queue.add("d");
    later.close();
    await queue.shutDownWithDrain().catch(() => {});
  }
});

Deno.test("SQLite: a file whose user_version another program has set is refused, and not changed", () => {
  for (const version of [1, 5]) {
    using folder = new Folder();
    const database = new DatabaseSync(folder.path);
    database.exec(`CREATE TABLE orders (id TEXT); PRAGMA user_version = ${version}`);
    database.close();
    const before = readFileSync(folder.path);
    assertThrows(() => folder.open(), Error, `another program has set its user_version to ${version}`);
    assertEquals(readFileSync(folder.path), before);
  }
});

Deno.test("SQLite: a link to a file that does not exist yet works like its path", async () => {
  using folder = new Folder();
  const [link, second] = [join(folder.path, "..", "link.db"), join(folder.path, "..", "second.db")];
  symlinkSync("queue.db", link);
  symlinkSync("link.db", second);
  await using queue = createSqliteQueue({ name: "queue", path: second });
  const database = new DatabaseSync(link);
  database.exec("PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE");
  queue.addWithin(database, ["a"]);
  database.exec("COMMIT");
  database.close();
  await using other = folder.open();
  assertEquals((await other.counts()).ready, 1);
});

Deno.test("SQLite: a file that appears while it is opened is not mistaken for a link", async () => {
  using folder = new Folder();
  const script = `
    const { rmSync, writeFileSync } = require("node:fs");
    const { workerData: path } = require("node:worker_threads");
    for (let i = 0; i < 5000; i++) {
      writeFileSync(path, "");
      rmSync(path);
    }`;
  const worker = new Worker(script, { eval: true, workerData: folder.path });
  let isOver = false;
  worker.once("exit", () => isOver = true);
  const codes = new Set<unknown>();
  while (!isOver) {
    await delay(0);
    for (let i = 0; i < 1000; i++) {
      try {
        realPathOf(folder.path);
      } catch (error) {
        codes.add(((error as Error).cause as NodeJS.ErrnoException).code);
      }
    }
  }
  codes.delete("ENOENT"); // it disappeared
  assertEquals([...codes], []);
});

Deno.test("SQLite: while the folder of the file can't be read, adds reject; afterwards they work", async () => {
  using folder = new Folder();
  const [home, away] = [join(folder.path, "..", "home"), join(folder.path, "..", "away")];
  mkdirSync(home);
  await using queue = createSqliteQueue({ name: "queue", path: join(home, "queue.db"), ...noErrors });
  await queue.add("a");
  await delay(2500); // the folder is known then
  await queue.add("a");
  renameSync(home, away);
  writeFileSync(home, ""); // on Deno and Bun, a look at a file in this folder throws
  for (const item of ["b", "c"]) {
    const { message, mayHaveRun } = await errorOf(queue.add(item));
    assertMatch(message, /^Cannot write to .*queue\.db: .*(not a directory|was removed or replaced)/i);
    assertEquals(mayHaveRun, false);
  }
  rmSync(home);
  renameSync(away, home);
  await queue.add("d");
  assertEquals((await queue.snapshot()).readyItems.map(({ item }) => item), ["a", "d"]);
});

Deno.test("SQLite: adds that needn't be on the disk are not acknowledged once the file is known to be removed", async () => {
  using folder = new Folder();
  const queue = folder.open({ durability: "normal", ...noErrors });
  await queue.add("a");
  rmSync(folder.path);
  await delay(300); // the files are checked every 250 ms
  for (const item of ["b", "c", "d"]) assertMatch((await errorOf(queue.add(item))).message, /was removed or replaced/);
  await queue.shutDownWithDrain().catch(() => {});
});

Deno.test("SQLite: a file in a folder that does not exist is refused", () => {
  using folder = new Folder();
  const path = join(folder.path, "..", "missing", "queue.db");
  assertThrows(
    () => createSqliteQueue({ name: "queue", path }),
    Error,
    `Cannot open ${path}: its folder does not exist`,
  );
});

Deno.test("SQLite: a file with another program's table of the same name is refused", () => {
  using folder = new Folder();
  const database = new DatabaseSync(folder.path);
  database.exec("CREATE TABLE items (id TEXT)");
  database.close();
  const { message } = assertThrows(() => folder.open(), Error);
  assertMatch(
    message,
    /a table of another program has a name that the queue uses \(table items already exists\)$/,
  );
});

Deno.test("SQLite: a removed wake-up file is created again", async () => {
  using folder = new Folder();
  await using queue = folder.open();
  await queue.add("a");
  const lease = await queue.get();
  assert(!lease.shutdown);
  rmSync(`${folder.path}-wake`);
  await lease.finish();
  const next = queue.get();
  const database = new DatabaseSync(folder.path);
  database.exec("PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE");
  queue.addWithin(database, ["b"]);
  database.exec("COMMIT");
  const second = await next;
  assert(!second.shutdown && second.item === "b");
  await second.finish();
  assert(statSync(`${folder.path}-wake`).isFile());
  database.close();
});

Deno.test("SQLite: with a full disk, adds reject, and acknowledged items are there once there is space", async () => {
  using folder = new Folder();
  const small = join(folder.path, "..", "small");
  mkdirSync(small);
  if (spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", small]).status !== 0) {
    console.log("left out: this user can't mount a file system");
    return;
  }
  try {
    const queue = createSqliteQueue({ name: "queue", path: join(small, "queue.db"), ...noErrors });
    await queue.add("acknowledged");
    writeFileSync(join(small, "ballast"), new Uint8Array(400_000));
    let acknowledged = 1;
    const error = await errorOf((async () => {
      for (let i = 0;; i++) {
        await queue.addAll(MANY.slice(0, 100).map((item) => `${item} of ${i}`));
        acknowledged += 100;
      }
    })());
    assertMatch(error.message, /^Cannot write to .*queue\.db: the disk (is full|reports an error)/);
    assertEquals((await queue.counts().catch(() => ({ ready: acknowledged }))).ready, acknowledged);
    rmSync(join(small, "ballast"));
    await queue.add("later");
    assertEquals((await queue.counts()).ready, acknowledged + 1);
    await queue.shutDownWithDrain();
  } finally {
    spawnSync("umount", [small]);
  }
});

Deno.test("SQLite: a read-only file is refused when it is opened", async () => {
  using folder = new Folder();
  const other = join(folder.path, "..", "folder");
  mkdirSync(other);
  if (spawnSync("mount", ["-t", "tmpfs", "tmpfs", other]).status !== 0) {
    console.log("left out: this user can't mount a file system");
    return;
  }
  const open = (name: string) => createSqliteQueue({ name: "queue", path: join(other, name), ...noErrors });
  try {
    const queue = open("queue.db");
    await queue.add("a");
    await queue.shutDownWithDrain();
    spawnSync("mount", ["-o", "remount,ro", other]);
    assertThrows(() => open("new.db"), Error, "new.db: the file or its folder can't be read or written");
    assertThrows(() => open("queue.db"), Error, "queue.db: the file or its folder can't be read or written");
  } finally {
    spawnSync("umount", [other]);
  }
});

Deno.test("SQLite: a file with damaged pages is refused, and while it is open, calls reject", async () => {
  using folder = new Folder();
  const first = folder.open();
  await first.addAll(MANY);
  await first.shutDownWithDrain();
  const bytes = readFileSync(folder.path);
  const queue = folder.open(noErrors);
  bytes.fill(0x5a, 4096); // all pages but the first one
  writeFileSync(folder.path, bytes);
  const { message } = await errorOf(queue.add("a"));
  assertMatch(message, /^Cannot write to .*queue\.db: it is damaged. Restore a backup/);
  await queue.shutDownWithDrain().catch(() => {});
  assertThrows(() => folder.open(), Error, "it is damaged. Restore a backup");

  bytes.fill(0x5a);
  writeFileSync(folder.path, bytes);
  assertThrows(() => folder.open(), Error, "it is damaged, or no SQLite database");
});

Deno.test("SQLite: an error in one call fails no other call of the same transaction", async () => {
  using folder = new Folder();
  await using queue = folder.open(noErrors);
  await queue.add("a");
  const database = new DatabaseSync(folder.path);
  database.exec(
    "CREATE TRIGGER refuse BEFORE INSERT ON items WHEN NEW.key = 'bad' BEGIN SELECT RAISE(ABORT, 'no'); END",
  );
  const calls = ["b", "bad", "c"].map((item) => queue.add(item).then(() => "added", ({ message }) => message));
  assertEquals((await Promise.all(calls)).map((result) => result.replace(/ to .*queue.db/, "")), [
    "added",
    "Cannot write: no",
    "added",
  ]);
  database.close();
});

Deno.test("SQLite: when one of many calls fails, the others soon share transactions again", async () => {
  using folder = new Folder();
  const database = new Database(folder.path);
  const found = new Set<unknown>();
  const calls = Array.from({ length: 500 }, (_, i) =>
    database.run("normal", 1000, (batch) => {
      found.add(batch);
      if (i === 123) throw new Error("no");
    }));
  const results = await Promise.allSettled(calls);
  assertEquals(results.flatMap(({ status }, i) => status === "rejected" ? [i] : []), [123]);
  assert(found.size < 30, `${found.size} transactions`);

  // Calls for no keys, which the pools of idle processes make, fail alone too.
  const none = [0, 1, 2].map((i) =>
    database.run("normal", 1000, () => {
      if (i === 1) throw new Error("no");
      return i;
    }, 0)
  );
  const settled = await Promise.allSettled(none);
  assertEquals(settled.map(({ status }) => status), ["fulfilled", "rejected", "fulfilled"]);
  for (let i = 0; i < 9; i++) await database.run("normal", 1000, () => {}, 0);
  const batches = await Promise.all(Array.from({ length: 500 }, () => database.run("normal", 1000, (batch) => batch)));
  assertEquals(new Set(batches).size, 1, "one transaction again");
  await database.close();
});

Deno.test("SQLite: a call that waited for others still has its full time when the file is locked", async () => {
  using folder = new Folder();
  const database = new Database(folder.path);
  await database.run("normal", 1000, () => {});
  const program = new DatabaseSync(folder.path);
  const first = database.run("normal", 1000, () => {
    for (const end = performance.now() + 1100; performance.now() < end;);
  }, 500);
  const second = database.run("normal", 1000, () => "done", 500);
  await first;
  program.exec("PRAGMA busy_timeout = 5000; BEGIN IMMEDIATE");
  await delay(5);
  program.exec("ROLLBACK");
  assertEquals(await second, "done");
  program.close();
  await database.close();
});

Deno.test("SQLite: a transaction has calls for at most 500 keys, unless one call has more", async () => {
  using folder = new Folder();
  const database = new Database(folder.path);
  const sizes = [300, 200, 1, 500, 600, 1, 499, 1];
  const batches = await Promise.all(sizes.map((keys) => database.run("normal", 1000, (batch) => batch, keys)));
  const all = [...new Set(batches)];
  assertEquals(batches.map((batch) => all.indexOf(batch)), [0, 0, 1, 2, 3, 4, 4, 5]);
  await database.close();
});

Deno.test("SQLite: a call that runs again because another one failed has the same effect", async () => {
  using folder = new Folder();
  await using queue = folder.open(noErrors);
  await queue.addAll(MANY);
  const pool = runWorkers(queue, () => {
    throw new Error("no");
  }, { concurrency: 500, maxRetries: 0, onError() {}, onGiveUp() {} });
  await queue.whenIdle();
  await pool.stop();
  const database = new DatabaseSync(folder.path);
  database.exec("CREATE TRIGGER refuse BEFORE INSERT ON items BEGIN SELECT RAISE(ABORT, 'no'); END");
  let isDone = false;
  const failing = (async () => {
    while (!isDone) await queue.add("bad").catch(() => {}); // each shares a transaction with a call of `discard`
  })();
  const discarded = await queue.discard();
  isDone = true;
  await failing;
  assertEquals([discarded, (await queue.counts()).givenUp], [MANY.length, 0]);
  database.close();
});

Deno.test("SQLite: a file that another machine uses is refused, and so is one on a network file system", async () => {
  using folder = new Folder();
  const [now, second] = [Date.now(), () => {}];
  const here = new Database(folder.path, { machine: { id: "here", startedAt: now - 1e6 } });
  await here.run("full", 1000, second);
  const there = new Database(folder.path, { machine: { id: "there", startedAt: now - 1e6 } });
  const { message } = await errorOf(there.run("full", 1000, second));
  assertMatch(
    message,
    /another machine used it \d s ago. Only the processes of one machine can share a file: use Redis/,
  );
  const rebooted = new Database(folder.path, { machine: { id: "here, again", startedAt: Date.now() + 1 } });
  await rebooted.run("full", 1000, second);
  const program = new DatabaseSync(folder.path);
  program.exec("UPDATE machines SET seen = seen + 86400000"); // noted before the clock was set back
  program.close();
  const later = new Database(folder.path, { machine: { id: "here, with another clock", startedAt: now - 1e6 } });
  await later.run("full", 1000, second);
  for (const database of [here, there, rebooted, later]) await database.close();

  const mounts = [
    "/dev/vda / ext4 rw 0 0",
    "server:/x /mnt/share nfs4 rw 0 0",
    "tmpfs /mnt/share/local tmpfs rw 0 0",
    "me@host: /home/me/my\\040files fuse.sshfs rw 0 0",
    "//nas/x /nas cifs rw 0 0",
  ].join("\n");
  const types = ["/srv/q.db", "/mnt/share/a/q.db", "/mnt/share/local/q.db", "/home/me/my files/q.db", "/nas/q.db"];
  assertEquals(types.map((path) => networkTypeOf(path, mountsIn(mounts))), [
    undefined,
    "nfs4",
    undefined,
    "fuse.sshfs",
    "cifs",
  ]);
  assertEquals(networkTypeOf("/srv/q.db", mountsIn("")), undefined);
});

Deno.test("SQLite: a backup by VACUUM INTO, during use of the queue, has everything acknowledged before", async () => {
  using folder = new Folder();
  await using queue = folder.open();
  await queue.addAll(MANY);
  const running = Promise.all(MANY.map((item) => queue.add(`later ${item}`)));
  const backup = join(folder.path, "..", "backup.db");
  const database = new DatabaseSync(folder.path);
  database.exec(`VACUUM INTO '${backup}'`);
  database.close();
  await running;
  await using copy = createSqliteQueue({ name: "queue", path: backup });
  const { ready } = await copy.counts();
  assert(ready >= MANY.length, `${ready} items`);
  const again = await copy.get();
  assert(!again.shutdown && again.item === MANY[0]);
  await again.finish();
});
