/** Tests of what is on the disk, and when. */

import { assertEquals } from "@std/assert";
import { statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { engineTest } from "./bench.ts";
import { Folder } from "./files.ts";

engineTest(
  "rule 21: an add is FULL, and so is what shares its transaction; what is no add is NORMAL",
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
