/**
 * Tests of random loads with faults: a process is killed, a machine loses power, or statements fail. For more of them:
 * `deno task prove:sqlite`.
 */

import { assert, assertEquals } from "@std/assert";
import { type FaultKind, faultRun, KINDS } from "./fault_run.ts";

/** Number of runs of each kind. Both sides of a commit are among 50 runs. */
const RUNS = 67;

const TITLES: Readonly<Record<FaultKind, string>> = {
  "kill": "rule 21: a process that is killed at a write loses nothing that it said is done",
  "power cut": "rule 21: a power cut loses no add, and at most the latest other calls",
  "error": "SQLite: a statement that fails undoes its call, and no other one",
};

for (const [i, kind] of KINDS.entries()) {
  Deno.test(TITLES[kind], async () => {
    const places = new Set<string>();
    let handOuts = 0;
    for (let seed = i; seed < RUNS * KINDS.length; seed += KINDS.length) {
      const outcome = await faultRun(seed);
      const { place = "none", wrong } = outcome;
      assertEquals(wrong, [], `${kind} ${place}; to repeat it: deno task prove:sqlite --runs 1 --seed ${seed}`);
      places.add(place);
      handOuts += outcome.handOuts;
    }
    assert(handOuts > 1000, `${handOuts} hand-outs`);
    const parts = kind === "error" ? ["at COMMIT"] : ["before COMMIT", "during COMMIT", "after COMMIT"];
    for (const part of parts) assert(places.has(part), `none ${part}`);
  });
}
