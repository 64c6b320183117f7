/**
 * Runs a workload of `against_works.ts` with the core in a folder, once for each line of its input. Prints the
 * milliseconds of each run.
 *
 *     yes | head -20 | deno run -A --config deno.all.json bench/peers/against_child.ts FOLDER "10 workers wait in get"
 *
 * @module
 */

import process from "node:process";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { againstWorks } from "./against_works.ts";

const [, , folder, name] = process.argv;
const core = await import(pathToFileURL(`${folder}/mod.ts`).href);
const run = againstWorks[name!]!;
for await (const _ of createInterface({ input: process.stdin })) {
  const began = performance.now();
  await run(core);
  console.log(performance.now() - began);
}
process.exit();
