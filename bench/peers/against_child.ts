/**
 * Measures a workload of `against_works.ts` with the core in a folder. Prints the nanoseconds per item of the fastest
 * run, which other programs have disturbed least.
 *
 *     deno run -A --config deno.all.json bench/peers/against_child.ts FOLDER "runWorkers, sync handler"
 *
 * @module
 */

import process from "node:process";
import { pathToFileURL } from "node:url";
import { measureRuns } from "../measure_runs.ts";
import { againstWorks, ITEMS } from "./against_works.ts";

const [, , folder, name] = process.argv;
const core = await import(pathToFileURL(`${folder}/mod.ts`).href);
const run = againstWorks[name!]!;
const { min } = await measureRuns(() => run(core));
console.log(min / ITEMS);
process.exit();
