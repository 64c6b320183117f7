import { assertEquals } from "@std/assert";
import { createWorkQueue } from "@workqueue/core";
import { NONE } from "../../lib/structures/records.ts";
import { RecentHandOuts } from "../../lib/structures/recent_hand_outs.ts";
import { randomNumbers } from "../queue_helpers.ts";

Deno.test("recent hand-outs: the latest sixteen are found until they end", () => {
  const recent = new RecentHandOuts();
  const findAll = () => Array.from({ length: 21 }, (_, i) => recent.find(`key ${i}`));
  for (let i = 0; i <= 20; i++) recent.add(i, 100 + i, `key ${i}`);
  assertEquals(findAll(), Array.from({ length: 21 }, (_, i) => i < 5 ? NONE : 100 + i));
  recent.remove(20, 120);
  recent.remove(4, 104); // hand-out 20 had taken its place, and has ended
  recent.remove(3, 103); // hand-out 19 has taken its place
  assertEquals(findAll(), Array.from({ length: 21 }, (_, i) => i < 5 || i === 20 ? NONE : 100 + i));
});

Deno.test("rule 1: done ends the right key, whatever was handed out and ended since, also for NaN, -0 and undefined", () => {
  const keys: unknown[] = [undefined, NaN, -0, null, "", ...Array.from({ length: 35 }, (_, i) => `key ${i}`)];
  const random = randomNumbers(40);
  const pick = <V>(values: readonly V[]) => values[Math.floor(random() * values.length)]!;
  for (let round = 0; round < 200; round++) {
    const queue = createWorkQueue<unknown>();
    const ready: unknown[] = [];
    const processing: unknown[] = [];
    const most = 1 + Math.floor(random() * 40);
    for (let step = 0; step < 300; step++) {
      const free = keys.filter((key) => !ready.includes(key) && !processing.includes(key));
      const dice = random();
      if (dice < 0.4 && free.length > 0) {
        const key = pick(free);
        queue.add(key);
        ready.push(key);
      } else if (dice < 0.7 && ready.length > 0 && processing.length < most) {
        const key = ready.shift();
        assertEquals(queue.tryGet()?.item, key);
        processing.push(key);
      } else {
        const key = pick(keys); // perhaps one that is not processing: then, nothing must happen
        queue.done(key);
        if (processing.includes(key)) processing.splice(processing.findIndex((each) => Object.is(each, key)), 1);
      }
      assertEquals([queue.length, queue.processing], [ready.length, processing.length]);
    }
  }
});
