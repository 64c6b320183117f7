/**
 * Measures one contender with one workload in a process of its own. Prints the median in nanoseconds per item, or per
 * run if the workload sets `per`.
 *
 *     deno run -A --config deno.all.json bench/peers/measure.ts heap flatqueue
 *
 * @module
 */

import { measure } from "mitata";
import process from "node:process";
import { works } from "./works.ts";

const WARMUP_RUNS = 40;
const WARMUP_MS = 1000;

const [, , name, contender] = process.argv;
const work = works[name!]!;
const items = work.fewer?.[contender!] ?? work.items;
const run = await work.contenders[contender!]!(items);
// mitata does not warm up a workload that takes milliseconds, but the compilers of both runtimes need dozens of runs.
for (let runs = 0, end = performance.now() + WARMUP_MS; runs < WARMUP_RUNS && performance.now() < end; runs++) {
  await run();
}
const { p50 } = await measure(async () => await run(), { min_cpu_time: 400e6, min_samples: 5 });
console.log(work.per === undefined ? p50 / items : p50);
