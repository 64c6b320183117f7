/**
 * Runs a workload of `against_works.ts` with the core in a folder, once for each call of `run`, which returns the
 * milliseconds.
 *
 *     echo '["run"]' | deno run -A --config deno.all.json bench/peers/against_child.ts FOLDER "10 workers wait in get"
 *
 * @module
 */

import process from "node:process";
import { pathToFileURL } from "node:url";
import { answer } from "../remote/calls.ts";
import { againstWorks } from "./against_works.ts";

const [, , folder, name] = process.argv;
const core = await import(pathToFileURL(`${folder}/mod.ts`).href);
const work = againstWorks[name!]!;
await answer({
  async run() {
    const began = performance.now();
    await work(core);
    return performance.now() - began;
  },
});
