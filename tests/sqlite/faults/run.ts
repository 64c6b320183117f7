/**
 * Runs random loads on files, each with a fault: the process is killed at a statement that writes, the machine loses
 * power, or a statement fails. Then runs loads in processes of all runtimes that are killed at a statement, or at a
 * system call if strace is installed. Exits with 1 at the first run with a violation:
 *
 *     npx -y deno task prove:sqlite [--runs 10000] [--processes 300] [--seed 1]
 *
 * @module
 */

import { parseArgs } from "node:util";
import process from "node:process";
import { killedLoad, RUNTIMES, STRACE } from "../process/killed_loads.ts";
import { faultRun } from "./fault_run.ts";

const { values } = parseArgs({
  options: {
    runs: { type: "string", default: "10000" },
    processes: { type: "string", default: "300" },
    seed: { type: "string", default: "1" },
  },
});
const [runs, processes, first] = [values.runs, values.processes, values.seed].map(Number) as [number, number, number];
/** Number of runs after which a line is printed. */
const EACH = 1000;

/** Adds to the number of runs at a place. Ends the program if anything was wrong. */
function note(place: string, wrong: readonly string[], again: string): void {
  places.set(place, (places.get(place) ?? 0) + 1);
  if (wrong.length === 0) return;
  console.error(`Wrong with a ${place}. To repeat it: deno task prove:sqlite ${again}\n${wrong.join("\n")}`);
  process.exit(1);
}

const places = new Map<string, number>();
let handOuts = 0;
for (let seed = first; seed < first + runs; seed++) {
  const outcome = await faultRun(seed);
  handOuts += outcome.handOuts;
  note(`${outcome.kind} ${outcome.place ?? "after the load"}`, outcome.wrong, `--runs 1 --processes 0 --seed ${seed}`);
  const done = seed - first + 1;
  if (done % EACH === 0) console.log(`${done.toLocaleString("en")} runs, ${handOuts.toLocaleString("en")} hand-outs`);
}
for (let seed = first; seed < first + processes; seed++) {
  const runtime = RUNTIMES[seed % RUNTIMES.length]!;
  const bySystem = STRACE !== undefined && seed % 2 === 0;
  const outcome = await killedLoad({ seed, runtime, bySystem });
  handOuts += outcome.handOuts;
  const place = !outcome.isKilled ? "after the load" : bySystem ? "at a system call" : "at a statement";
  note(`kill of ${runtime} ${place}`, outcome.wrong, `--runs 0 --processes 1 --seed ${seed}`);
}
for (const [place, count] of [...places].sort(([, one], [, other]) => other - one)) console.log(`${count} × ${place}`);
const all = (runs + processes).toLocaleString("en");
console.log(`Nothing was wrong with ${all} runs, ${handOuts.toLocaleString("en")} hand-outs.`);
