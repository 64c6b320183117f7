/** Test of a storm of faults around a file. For a longer one: `deno task storm:sqlite --seed 1 --seconds 120`. */

import { assert } from "@std/assert";
import { storm } from "./storm.ts";

Deno.test(
  "a storm around a file: nothing is lost, no key has two owners, no group exceeds its limit, and the order holds",
  async () => {
    const { handOuts, faults } = await storm({ seed: 1, ms: 3000 });
    assert(handOuts > 100, `${handOuts} hand-outs`);
    for (const kind of ["kill", "stop", "lock", "checkpoint"]) assert(faults[kind]! > 0, kind);
  },
);
