import { deepEqual, ok } from "node:assert/strict";
import { inTurns } from "./turns.ts";

const FIVE = ["a", "b", "c", "d", "e"];

Deno.test("turns: every contender has one turn in each round", () => {
  for (let round = 0; round < 20; round++) deepEqual(inTurns(FIVE, round).toSorted(), FIVE);
  deepEqual(inTurns([], 1), []);
});

Deno.test("turns: in seven rounds, no contender always follows the same one, and each is first or last at most twice", () => {
  const rounds = Array.from({ length: 7 }, (_, round) => inTurns(FIVE, round));
  for (const contender of FIVE) {
    const before = rounds.map((order) => order[order.indexOf(contender) - 1]);
    ok(new Set(before.filter((other) => other !== undefined)).size > 1);
    for (const end of [0, -1]) ok(rounds.filter((order) => order.at(end) === contender).length <= 2);
  }
});
