/** Tests of messages to idle processes. */

import { assertEquals } from "@std/assert";
import { engineTest, keysOf } from "./bench.ts";

engineTest(
  "an add wakes one idle process, and a second one checks later, in case the first was killed",
  async (bench) => {
    const told: [string, number][] = [];
    const stops: (() => void)[] = [];
    for (const owner of ["first", "second", "third"]) {
      assertEquals(keysOf(await bench.take(owner)), []);
      stops.push(await bench.engine.listen(`process of ${owner}`, (delay) => told.push([owner, delay])));
      bench.jump(1);
    }
    await bench.add("a");
    assertEquals(told, [["third", 0], ["first", 50]]);
    bench.jump(50);
    assertEquals(keysOf(await bench.take("first")), ["a"], "as the third process was killed");
    for (const stop of stops) stop();
  },
);
