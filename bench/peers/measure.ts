/**
 * Measures one contender of a workload in a process of its own. Prints the time per item in the unit of the workload.
 *
 *     deno run -A --config deno.all.json bench/peers/measure.ts heap flatqueue
 *
 * @module
 */

import process from "node:process";
import { measureRuns } from "../measure_runs.ts";
import { NANOSECONDS } from "./row.ts";
import { works } from "./works.ts";

const [, , name, contender] = process.argv;
const work = works[name!]!;
const items = work.itemsOf[contender!] ?? work.items;
const run = await work.contenders[contender!]!(items);
const { p50 } = await measureRuns(run);
console.log(p50 / items / NANOSECONDS[work.unit]);
process.exit(); // some contenders leave timers
