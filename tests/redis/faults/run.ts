/**
 * The faults that take longer than a suite should: `deno task faults:redis --seed N --seconds 60`. Processes are killed at
 * random for so long, and the server is away for 40 seconds, in each way.
 */

import { parseArgs } from "node:util";
import { serverAway } from "./away.ts";
import { survive } from "./process/chaos.ts";

const { values } = parseArgs({
  options: { seed: { type: "string", default: "1" }, seconds: { type: "string", default: "60" } },
});
const seed = Number(values.seed);
const ms = Number(values.seconds) * 1000;
console.log(`Killing processes at random for ${ms / 1000} s, with seed ${seed}.`);
const { kills, items, handled } = await survive({ seed, items: 20_000, processes: 8, ms });
console.log(`${kills} processes were killed. All ${items} items ended, after ${handled} times of work on them.`);

console.log("Taking the server away for 40 s, with leases of 30 s.");
await Promise.all(
  (["kill", "stop", "network"] as const).map((how) => serverAway({ how, lease: 30_000, away: 40_000 })),
);
console.log("Nobody's item was taken away.");
