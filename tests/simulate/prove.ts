/**
 * Compares simulated queues with queueing theory, adaptive throttles with an oracle (rule 19), outages with events
 * with outages without them (rule 17), pools with a model of permits, and all incidents with the guide. Tries whether
 * queues with a retry budget recover from overloads (rule 18). Exits with 1 if anything is out of bounds.
 *
 *     npx -y deno task prove [--customers 2000000] [--only M/M/1] [--seeds 50] [--overloads 1000]
 *
 * @module
 */

import { parseArgs } from "node:util";
import process from "node:process";
import { incidents } from "../../packages/simulate/incidents/incidents.ts";
import { proveEvents } from "../limiters/prove_events.ts";
import { STEPS, tryPermits } from "../model/permits.ts";
import { verdictOn } from "./incidents.ts";
import { QUEUES, shareWithoutRecovery } from "./metastable.ts";
import { type Goodput, goodputOf, TRIED } from "./oracle.ts";
import { type Cell, cells, measure } from "./theory.ts";

const { values } = parseArgs({
  options: {
    customers: { type: "string", default: "2000000" },
    only: { type: "string", default: "" },
    seeds: { type: "string", default: "50" },
    overloads: { type: "string", default: "1000" },
  },
});

/** Reports whether few customers of a cell wait. The mean of two million waits would be off by up to 3 % by chance. */
function hasShortWaits({ waits }: Cell): boolean {
  return Math.min(...waits) < 2;
}

let isProven = true;
console.log("| queue | bound | theory | simulation | error | Little |\n| --- | --- | --- | --- | --- | --- |");
for (const cell of cells.filter(({ name }) => name.includes(values.only))) {
  const { waits, little } = await measure(cell, Number(values.customers) * (hasShortWaits(cell) ? 6 : 1));
  const errors = waits.map((wait, i) => wait / cell.waits[i]! - 1);
  const isWrong = (wait: number, i: number) =>
    Math.abs(wait - cell.waits[i]!) > Math.max(cell.bound * cell.waits[i]!, 0.01);
  if (waits.some(isWrong) || Math.abs(little - 1) > 1e-9) isProven = false;
  const list = (numbers: readonly number[]) => numbers.map((number) => number.toFixed(1)).join(", ");
  const percent = errors.map((error) => `${(100 * error).toFixed(2)} %`).join(", ");
  const bound = `${100 * cell.bound} %`;
  console.log(
    `| ${cell.name} | ${bound} | ${list(cell.waits)} ms | ${list(waits)} ms | ${percent} | ${little.toFixed(9)} |`,
  );
}

/** Bounds of rule 19, by the mean duration of an attempt in milliseconds. */
const BOUNDS: Readonly<Record<number, Partial<Record<keyof Goodput, number>>>> = {
  50: { whole: 0.95, firstTenSeconds: 0.9 },
  200: { rest: 0.9 },
  1000: {},
};

console.log(
  "\n| throttle | mean | jump | goodput (least) | first 10 s | rest |\n| --- | --- | --- | --- | --- | --- |",
);
for (const throttle of Object.keys(TRIED) as (keyof typeof TRIED)[]) {
  for (const [mean, bounds] of Object.entries(BOUNDS)) {
    const runs: Goodput[] = [];
    for (let seed = 1; seed <= Number(values.seeds); seed++) {
      runs.push(...await goodputOf(throttle, Number(mean), seed));
    }
    for (const jump of ["down", "up"]) {
      const cellsOf = (["whole", "firstTenSeconds", "rest"] as const).map((part) => {
        const shares = runs.filter((run) => run.jump === jump).map((run) => run[part]);
        const least = Math.min(...shares);
        if (throttle !== "fixed" && least < (bounds[part] ?? 0)) isProven = false;
        const average = shares.reduce((sum, share) => sum + share, 0) / shares.length;
        return `${(100 * average).toFixed(1)} % (${(100 * least).toFixed(1)})`;
      });
      console.log(`| ${throttle} | ${mean} ms | ${jump} | ${cellsOf.join(" | ")} |`);
    }
  }
}
if (!await proveEvents()) isProven = false;

const MODELS = 2500;
for (let seed = 1; seed <= MODELS; seed++) await tryPermits(seed);
console.log(`\nPermits of throttles: no leak in ${(MODELS * STEPS).toLocaleString("en")} random steps.`);

console.log("\n| queue | overloads | without recovery |\n| --- | --- | --- |");
for (const queue of Object.keys(QUEUES) as (keyof typeof QUEUES)[]) {
  const share = await shareWithoutRecovery(queue, Number(values.overloads));
  if (queue === "budget and throttle" && share > 0) isProven = false;
  console.log(`| ${queue} | ${values.overloads} | ${(100 * share).toFixed(1)} % |`);
}

console.log();
for (const incident of incidents) {
  const { verdict, expected } = await verdictOn(incident);
  const isSame = verdict.includes(expected);
  if (!isSame) isProven = false;
  console.log(`${incident.folder}: ${isSame ? "as the guide says" : `${verdict} (the guide says:${expected})`}`);
}
process.exit(isProven ? 0 : 1);
