/** Tests of what is on the disk, and when. */

import { assert, assertEquals } from "@std/assert";
import { statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { engineTest } from "./bench.ts";
import { fileTest, Folder } from "./files.ts";

const MB = 1_000_000;

engineTest(
  "rule 21: a transaction with an add is FULL, and any other transaction is NORMAL",
  async (bench) => {
    const [NORMAL, FULL] = [1, 2];
    /** Returns the durability of a transaction that a call shares. */
    const levelDuring = async (call: () => Promise<unknown>, database = bench.databases[0]!) => {
      const level = database.run("normal", 1000, ({ sql }) => sql.get<{ synchronous: number }>("PRAGMA synchronous")!);
      await call();
      return (await level).synchronous;
    };
    assertEquals(await levelDuring(() => bench.add("a")), FULL);
    assertEquals(await levelDuring(() => bench.addAfter(1000, "b")), FULL);
    assertEquals(await levelDuring(() => bench.engine.promoteDelayed("b")), FULL);
    const { taken: [a] } = await bench.take("one");
    assertEquals(await levelDuring(() => bench.take("one")), NORMAL);
    assertEquals(await levelDuring(() => bench.finish("a", a!.token)), NORMAL);
    assertEquals(await levelDuring(() => bench.engine.counts()), NORMAL);
    const normal = bench.open({ durability: "normal" });
    const add = () => normal.add([{ key: "c", payload: "" }]);
    assertEquals(await levelDuring(add, bench.databases[1]), NORMAL);
  },
);

Deno.test("SQLite: the log is copied into the file in idle time, while the file is open", async () => {
  using folder = new Folder();
  await using queue = folder.open();
  const items = Array.from({ length: 1000 }, (_, i) => `item ${i}`);
  await queue.addAll(items);
  const before = statSync(folder.path).size;
  while (statSync(folder.path).size < before + 50_000) await sleep(20);
});

/** Makes the log of a file large, because a reader keeps it. */
async function fillLog({ path }: Folder, add: (items: readonly string[]) => Promise<unknown>): Promise<Disposable> {
  const reader = new DatabaseSync(path, { readOnly: true });
  reader.exec("BEGIN");
  reader.prepare("SELECT count(*) FROM items").get();
  for (let i = 0; statSync(`${path}-wal`).size < 15 * MB; i++) {
    await add(Array.from({ length: 1000 }, (_, j) => `item ${i} ${j}`));
  }
  return { [Symbol.dispose]: () => reader.close() };
}

fileTest("a log that is large because of a reader is truncated in idle time", async (folder) => {
  await using queue = folder.open();
  await queue.add("a");
  {
    using _reader = await fillLog(folder, (items) => queue.addAll(items));
    await sleep(1500); // a checkpoint finds the reader
    assert(statSync(`${folder.path}-wal`).size > 10 * MB);
  }
  while (statSync(`${folder.path}-wal`).size > 0) await sleep(20); // there are no more calls
});

fileTest("a log that is large because of a reader is cut off by a queue that is never idle", async (folder) => {
  await using queue = folder.open({ durability: "normal" });
  await queue.add("a");
  {
    using _reader = await fillLog(folder, (items) => queue.addAll(items));
  }
  for (let i = 0; statSync(`${folder.path}-wal`).size > 8 * MB; i++) await queue.add(`later ${i}`);
});
