/**
 * Times one contender at one work, in a process of its own, and prints the nanoseconds an item, or of what the work
 * says: the median.
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
// A work of milliseconds is not warmed up by mitata, and it takes dozens of runs until both compilers are done with it.
for (let runs = 0, end = performance.now() + WARMUP_MS; runs < WARMUP_RUNS && performance.now() < end; runs++) {
  await run();
}
const { p50 } = await measure(async () => await run(), { min_cpu_time: 400e6, min_samples: 5 });
console.log(work.per === undefined ? p50 / items : p50);
