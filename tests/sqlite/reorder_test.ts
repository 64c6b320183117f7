/** Tests of a discipline that is put in force while many keys are ready. */

import { assertEquals } from "@std/assert";
import { engineTest, keysOf } from "./bench.ts";

const COUNT = 1000;
const PRIORITY = { type: "priority", min: 0, max: 4, maxHeadStart: "unlimited" } as const;
const FAIR = { type: "fair", separator: "/" } as const;

function entries() {
  return Array.from({ length: COUNT }, (_, i) => ({ key: `${i % 3}/${i}`, payload: "", delay: 0, priority: i % 5 }));
}

engineTest("if more keys are ready than a call moves, several calls move them into a new order", async (bench) => {
  await bench.engine.addEach(entries());
  const engine = bench.order(PRIORITY);
  for (let calls = 0; calls < COUNT / 200; calls++) {
    const { ready, blocked, oldestReadyMs } = await engine.counts();
    assertEquals([ready, blocked, oldestReadyMs >= 0], [COUNT, 0, true]);
    assertEquals((await engine.snapshot(2000)).readyItems.length, COUNT, "lists have all keys, also meanwhile");
  }
  const taken = keysOf(await bench.take("one", COUNT / 5, 0, engine));
  assertEquals(new Set(taken.map((key) => Number(key.split("/")[1]) % 5)), new Set([4]));
});

engineTest("disciplines that change faster than keys are moved lose no key, and hand out each once", async (bench) => {
  await bench.engine.addEach(entries());
  for (const discipline of [PRIORITY, FAIR, PRIORITY, { ...FAIR, maxPerGroup: 500 }]) {
    const engine = bench.order(discipline);
    await bench.take("one", 10, 0, engine); // moves some
    await engine.add([{ key: `new ${discipline.type}`, payload: "" }]);
  }
  const taken: string[] = [];
  for (let more = [""]; more.length > 0; taken.push(...more)) more = keysOf(await bench.take("two", 100));
  assertEquals(taken.length + 40, COUNT + 2);
  assertEquals(new Set(taken).size, taken.length);
});
