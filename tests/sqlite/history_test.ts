/** Tests of histories of random loads on SQLite, with the checks of Redis. */

import { assert, assertEquals } from "@std/assert";
import { check } from "../redis/history/check.ts";
import { type LoadStore, runLoad } from "../redis/history/load.ts";
import { LOADS, rulesOf } from "../redis/history/loads.ts";
import { Bench } from "./bench.ts";

for (const [name, load] of Object.entries(LOADS)) {
  Deno.test(`history on SQLite: no violation is found in ${name}`, async () => {
    await using bench = new Bench();
    const store: LoadStore = {
      engine: (name, clock, settings) => bench.open({ ...settings, name, clock }),
      clear: () => Promise.resolve(),
    };
    const { handOuts, wrong } = check([await runLoad(store, load)], rulesOf(load));
    assertEquals(wrong, []);
    assert(handOuts > load.steps / 4, `${handOuts} hand-outs`);
  });
}
