/**
 * Runs random loads on files, each with a fault: the process is killed at a statement that writes, the machine loses
 * power, or a statement fails. Exits with 1 at the first run with a violation:
 *
 *     npx -y deno task prove:sqlite [--runs 10000] [--seed 1]
 *
 * @module
 */

import { parseArgs } from "node:util";
import process from "node:process";
import { faultRun } from "./fault_run.ts";

const { values } = parseArgs({
  options: { runs: { type: "string", default: "10000" }, seed: { type: "string", default: "1" } },
});
const [runs, first] = [Number(values.runs), Number(values.seed)];
/** Number of runs after which a line is printed. */
const EACH = 1000;

let handOuts = 0;
const places = new Map<string, number>();
for (let seed = first; seed < first + runs; seed++) {
  const outcome = await faultRun(seed);
  handOuts += outcome.handOuts;
  const place = `${outcome.kind} ${outcome.place ?? "after the load"}`;
  places.set(place, (places.get(place) ?? 0) + 1);
  if (outcome.wrong.length > 0) {
    console.error(`Wrong with a ${place}. To repeat: deno task prove:sqlite --runs 1 --seed ${seed}`);
    console.error(outcome.wrong.join("\n"));
    process.exit(1);
  }
  const done = seed - first + 1;
  if (done % EACH === 0) console.log(`${done.toLocaleString("en")} runs, ${handOuts.toLocaleString("en")} hand-outs`);
}
for (const [place, count] of [...places].sort(([, one], [, other]) => other - one)) console.log(`${count} × ${place}`);
console.log(`Nothing was wrong with ${runs.toLocaleString("en")} runs, ${handOuts.toLocaleString("en")} hand-outs.`);
