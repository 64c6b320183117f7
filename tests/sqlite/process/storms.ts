/**
 * Runs storms of faults around a file, one after another: `deno task storm:sqlite --seed 1 --seconds 120`. Each lasts
 * for 30 s at most. Afterwards, its history is checked, and its hand-outs are counted.
 */

import { parseArgs } from "node:util";
import { storm } from "./storm.ts";

const { values } = parseArgs({
  options: { seed: { type: "string", default: "1" }, seconds: { type: "string", default: "120" } },
});
const LONGEST = 30;
const seed = Number(values.seed);

let handOuts = 0;
for (let left = Number(values.seconds), round = 0; left > 0; left -= LONGEST, round++) {
  const seconds = Math.min(left, LONGEST);
  const result = await storm({ seed: seed * 1000 + round, ms: seconds * 1000 });
  handOuts += result.handOuts;
  const faults = Object.entries(result.faults).map(([kind, count]) => `${count} × ${kind}`).join(", ");
  console.log(`Seed ${seed}, ${seconds} s: ${result.handOuts} hand-outs, ${faults}. ${handOuts} hand-outs so far.`);
}
console.log("Nothing was lost, no key had two owners, no group exceeded its limit, and the order held.");
