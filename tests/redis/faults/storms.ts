/**
 * Runs storms of faults, one after another: `deno task storm:redis --seed N --seconds 600`. Each lasts for 30 s at
 * most. Afterwards, its history is checked, and its hand-outs are counted. By default, every third storm is around a
 * cluster.
 */

import { parseArgs } from "node:util";
import { type Storm, storm } from "./process/storm.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    seconds: { type: "string", default: "60" },
    site: { type: "string", default: "server,cluster,sentinel" },
  },
});
const SITES = values.site.split(",") as Storm["site"][];
const LONGEST = 30;
const PROCESSES = 8;
const seed = Number(values.seed);

let handOuts = 0;
for (let left = Number(values.seconds), round = 0; left > 0; left -= LONGEST, round++) {
  const site = SITES[round % SITES.length]!;
  const seconds = Math.min(left, LONGEST);
  const result = await storm({ seed: seed * 1000 + round, ms: seconds * 1000, processes: PROCESSES, site })
    .catch((error) => {
      throw new AggregateError(errorsIn(error), `The storm failed in round ${round}`);
    });
  handOuts += result.handOuts;
  const faults = Object.entries(result.faults).map(([kind, count]) => `${count} × ${kind}`).join(", ");
  console.log(
    `Seed ${seed}, ${seconds} s, ${site}: ${result.handOuts} hand-outs, ${faults}. ${handOuts} hand-outs so far.`,
  );
}
console.log("Nothing was lost, no key had two owners, no group exceeded its limit, and the order held.");

/** Returns the errors of a failed storm, and of its cleanup: runtimes show only the outermost one. */
function errorsIn(error: unknown): unknown[] {
  return error instanceof SuppressedError ? [...errorsIn(error.suppressed), ...errorsIn(error.error)] : [error];
}
