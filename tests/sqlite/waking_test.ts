/** Tests of messages to idle processes. */

import { assertEquals } from "@std/assert";
import { DatabaseSync } from "node:sqlite";
import { Database } from "../../packages/sqlite/database/database.ts";
import { announce, storeMessages } from "../../packages/sqlite/database/messages.ts";
import { Statements } from "../../packages/sqlite/database/statements.ts";
import { engineTest, keysOf } from "./bench.ts";
import { Folder } from "./files.ts";

Deno.test("SQLite: a process is notified again after its earlier message was deleted", async () => {
  using folder = new Folder();
  const database = new Database(folder.path);
  database.open();
  const sender = new DatabaseSync(folder.path, { timeout: 5000 });
  const told: number[] = [];
  const stop = database.messages.listen("process", (delay) => told.push(delay));
  for (const hour of [1, 2, 3]) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const stopWitness = database.messages.listen(`witness ${hour}`, () => resolve());
    const messages = [["process", hour], [`witness ${hour}`, 0]] as const;
    storeMessages(new Statements(sender), messages, hour * 3_600_000_001);
    announce(folder.path);
    await promise;
    storeMessages(new Statements(sender), [["another process", 0]], (hour + 1) * 3_600_000_001);
    stopWitness();
  }
  assertEquals(told, [1, 2, 3]);
  stop();
  sender.close();
  await database.close();
});

engineTest(
  "an add wakes one idle process, and a second one checks later, in case the first was killed",
  async (bench) => {
    const told: [string, number][] = [];
    const stops: (() => void)[] = [];
    for (const owner of ["first", "second", "third"]) {
      assertEquals(keysOf(await bench.take(owner)), []);
      const listener = { wake: (delay: number) => void told.push([owner, delay]), renew() {}, resumed() {} };
      stops.push(await bench.engine.listen(`process of ${owner}`, listener));
      bench.jump(1);
    }
    await bench.add("a");
    assertEquals(told, [["third", 0], ["first", 50]]);
    bench.jump(50);
    assertEquals(keysOf(await bench.take("first")), ["a"], "as the third process was killed");
    for (const stop of stops) stop();
  },
);
