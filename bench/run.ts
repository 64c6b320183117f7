/**
 * Measures the cases of this queue alone on the runtime that runs this program, and prints a table for each group:
 *
 *     deno task bench:cases [--on bun] [--only "by priority"] [--gc]
 *
 * `--only` selects the cases whose group or name contains a text. `--gc` also collects garbage before and after each
 * run, and prints the duration of a collection.
 *
 * @module
 */

import process from "node:process";
import { parseArgs } from "node:util";
import { KEYS } from "./cases/case.ts";
import { cases } from "./cases/mod.ts";
import { distinctKeys } from "./keys.ts";
import { table } from "./markdown.ts";
import { measureRuns, type Statistics } from "./measure_runs.ts";

const { values: { only = "", gc } } = parseArgs({
  options: { only: { type: "string" }, gc: { type: "boolean", default: false } },
});

function cellsOf({ p25, p50, p75, p99, gc }: Statistics, baseline: Statistics): string[] {
  const perKey = [p50, p25, p75, p99].map((nanoseconds) => (nanoseconds / KEYS).toFixed(1));
  const collection = gc === undefined ? [] : [`${(gc.avg / 1e6).toFixed(1)} ms`];
  return [`${(p50 / baseline.p50).toFixed(2)} ×`, ...perKey, ...collection];
}

/** Smallest number of samples of which percentiles are printed. */
const MIN_SAMPLES = 12;

const keys = distinctKeys(KEYS);
const options = { minSamples: MIN_SAMPLES, collects: gc };
const head = ["ns a key", "of the first", "median", "25th percentile", "75th", "99th", ...gc ? ["collection"] : []];
for (const [group, ofGroup] of Object.entries(cases)) {
  const selected = Object.entries(ofGroup).filter(([name]) => group.includes(only) || name.includes(only));
  if (selected.length === 0) continue;
  const measured: [name: string, Statistics][] = [];
  for (const [name, prepare] of selected) measured.push([name, await measureRuns(prepare(keys), options)]);
  const [, baseline] = measured[0]!;
  console.log(
    [`## ${group}`, "", ...table(head, measured.map(([name, s]) => [name, ...cellsOf(s, baseline)])), ""].join("\n"),
  );
}
process.exit(); // some cases leave timers
