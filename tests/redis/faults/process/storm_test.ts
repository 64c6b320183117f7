/** Test of a storm of faults. For a longer one: `deno task storm:redis --seed N --seconds 600`. */

import { assert } from "@std/assert";
import { serverTest } from "../../redis_tests.ts";
import { storm } from "./storm.ts";

const FAULTS = {
  server: ["kill", "stop", "cut", "delay", "step", "restart"],
  cluster: ["kill", "stop", "cut", "delay", "step", "move", "hand over"],
};

for (const site of ["server", "cluster"] as const) {
  serverTest(
    `a storm around a ${site}: nothing is lost, no key has two owners, and no group exceeds its limit`,
    async () => {
      const { handOuts, faults } = await storm({ seed: 1, ms: 8000, site });
      assert(handOuts > 1000, `${handOuts} hand-outs`);
      for (const kind of FAULTS[site]) assert(faults[kind]! > 0, kind);
    },
  );
}
