/** Tests of the check of the order, with histories that are written by hand. */

import { assertEquals } from "@std/assert";
import type { Line } from "./event.ts";
import { History } from "./history.ts";
import { order } from "./order.ts";

/** Returns the lines of a process that adds the keys `a`, `b`, `c` and `d` at 1, 11, 21 and 31 ms. */
function adds(): Line[] {
  return ["a", "b", "c", "d"].flatMap((key, i) => [
    { at: 10 * i, call: i, do: "add", rows: [[key, 0, 0]] },
    { at: 10 * i + 1, reply: i },
  ]);
}

/** Returns the lines of a process that takes keys one by one, from 100 ms on. */
function takes(...keys: string[]): Line[] {
  return keys.flatMap((key, i) => {
    const at = 100 + 10 * i;
    return [
      { at, call: i, do: "turn", owner: "one", lease: 1000, wanted: 1, finishes: [] },
      { at: at + 2, reply: i, taken: [[key, `${(at + 1) * 1000}`, 0]] },
    ] as Line[];
  });
}

/** Returns the line of a process that was killed before the reply to its call for up to this many keys arrived. */
function lost(wanted: number): Line[] {
  return [{ at: 50, call: 0, do: "turn", owner: "killed", lease: 1000, wanted, finishes: [] }];
}

Deno.test("order: keys in order are accepted, and other keys are reported", () => {
  assertEquals(order(new History([adds(), takes("a", "b", "c", "d")]), {}), []);
  assertEquals(order(new History([adds(), takes("b", "a", "c", "d")]), {}), [
    "b was handed out by 101000, before a by 111000",
  ]);
});

Deno.test("order: a key that comes too early or too late may be due to a lost key, but only once for each lost key", () => {
  for (const keys of [["d", "a", "b", "c"], ["b", "c", "d", "a"]]) {
    assertEquals(order(new History([adds(), takes(...keys)]), {}).length, 1, "nothing was lost");
    assertEquals(order(new History([adds(), takes(...keys), lost(1)]), {}), []);
  }
  const twoPairs = [adds(), takes("b", "a", "d", "c")];
  assertEquals(order(new History([...twoPairs, lost(1)]), {}).length, 1);
  assertEquals(order(new History([...twoPairs, lost(2)]), {}), []);
});

Deno.test("order: a key that is out of order is a violation if the only lost call was before the key was added", () => {
  const late: Line[] = [
    { at: 2000, call: 9, do: "add", rows: [["e", 0, 0]] },
    { at: 2001, reply: 9 },
    { at: 2020, call: 10, do: "add", rows: [["f", 0, 0]] },
    { at: 2021, reply: 10 },
  ];
  const taken = takes().concat(
    ["f", "e"].flatMap((key, i): Line[] => [
      { at: 2100 + i, call: i, do: "turn", owner: "one", lease: 1000, wanted: 1, finishes: [] },
      { at: 2100 + i + 0.5, reply: i, taken: [[key, `${2_100_200 + 1000 * i}`, 0]] },
    ]),
  );
  assertEquals(order(new History([late, taken, lost(1)]), {}).length, 1);
});
