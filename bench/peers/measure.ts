/**
 * Times one contender at one work, in a process of its own, and prints the nanoseconds an item: the median.
 *
 *     deno run -A bench/peers/measure.ts heap flatqueue
 *
 * @module
 */

import { measure } from "mitata";
import process from "node:process";
import { works } from "./works.ts";

const [, , name, contender] = process.argv;
const work = works[name!]!;
const items = work.fewer?.[contender!] ?? work.items;
const run = await work.contenders[contender!]!(items);
const { p50 } = await measure(async () => await run(), { min_cpu_time: 400e6, min_samples: 8, warmup_samples: 5 });
console.log(p50 / items);
