/** Test of a storm of faults. For a longer one: `deno task storm:redis --seed N --seconds 600`. */

import { assert } from "@std/assert";
import { serverTest } from "../../redis_tests.ts";
import { storm } from "./storm.ts";

serverTest("a storm of faults: nothing is lost, no two owners have a key, and no group exceeds its limit", async () => {
  const { handOuts, faults } = await storm({ seed: 1, ms: 8000 });
  assert(handOuts > 1000, `${handOuts} hand-outs`);
  for (const kind of ["kill", "stop", "cut", "delay", "step", "restart"]) assert(faults[kind]! > 0, kind);
});
