import { throws } from "node:assert/strict";
import { againstWorks } from "./against_works.ts";
import { defineWork } from "./row.ts";
import { works } from "./works.ts";

/** Fraction of the items that a test passes through a queue. */
const FEW = 0.01;

for (const [name, { contenders, items, itemsOf }] of Object.entries(works)) {
  for (const [contender, prepare] of Object.entries(contenders)) {
    Deno.test(`bench: ${contender} does its work: ${name}`, async () => {
      const run = await prepare(Math.ceil(FEW * (itemsOf[contender] ?? items)));
      await run();
      await run();
    });
  }
}

for (const [name, run] of Object.entries(againstWorks)) {
  Deno.test(`bench: can be compared with an earlier commit: ${name}`, async () => {
    await run(await import("@workqueue/core"));
  });
}

Deno.test("bench: a bound can compare only contenders of its work", () => {
  const parts = { title: "t", contenders: { ours: () => () => {}, peer: () => () => {} } };
  defineWork({ ...parts, bounds: [{ than: "peer", atLeast: 2 }] });
  throws(() => defineWork({ ...parts, bounds: [{ than: "other", atLeast: 2 }] }), /has no 'other'/);
  throws(() => defineWork({ ...parts, bounds: [{ contender: "other", atMost: 2 }] }), /has no 'other'/);
});
