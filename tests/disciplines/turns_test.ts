import { assertEquals } from "@std/assert";
import { Taker, Turns } from "../../disciplines/turns.ts";
import { randomNumbers } from "../queue_helpers.ts";

class Named extends Taker<Named> {
  constructor(readonly name: number) {
    super();
  }
}

Deno.test("turns: takers go by start, and equal starts in the order in which they were set, whatever is removed", () => {
  const random = randomNumbers(8);
  for (const [takers, furthest] of [[3, 2], [30, 3], [30, 1000]] as const) {
    const all = Array.from({ length: takers }, (_, name) => new Named(name));
    const turns = new Turns<Named>();
    let list: { taker: Named; start: number; order: number }[] = [];
    for (let step = 0; step < 5000; step++) {
      list.sort((a, b) => a.start - b.start || a.order - b.order);
      const next = list[0];
      assertEquals([turns.top?.name, turns.length], [next?.taker.name, list.length]);
      assertEquals(turns.first(4).map(({ name }) => name), list.slice(0, 4).map(({ taker }) => taker.name));
      const taker = random() < 0.5 && next !== undefined ? next.taker : all[Math.floor(random() * takers)]!;
      const known = list.find((each) => each.taker === taker);
      if (known !== undefined && random() < 0.2) {
        turns.remove(taker);
        list = list.filter((each) => each !== known);
        assertEquals(taker.round, undefined);
      } else {
        const start = Math.max(known?.start ?? 0, next?.start ?? 0) + Math.floor(random() * furthest);
        turns.set(taker, start);
        assertEquals(taker.start, start);
        list = [...list.filter((each) => each !== known), { taker, start, order: step }];
      }
    }
  }
});
