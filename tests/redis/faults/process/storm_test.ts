/** Tests of storms of faults. For a longer one: `deno task storm:redis --seed N --seconds 600`. */

import { assert } from "@std/assert";
import { EVERY } from "../../../every.ts";
import { serverTest } from "../../redis_tests.ts";
import { storm } from "./storm.ts";

const FAULTS = {
  server: ["kill", "stop", "cut", "delay", "step", "restart"],
  cluster: ["kill", "stop", "cut", "delay", "step", "move", "hand over"],
  sentinel: ["kill", "stop", "cut", "delay", "step", "failover"],
};

for (const site of EVERY ? ["server", "cluster", "sentinel"] as const : ["cluster"] as const) {
  serverTest(
    `a storm around a ${site}: nothing is lost, no key has two owners, no group exceeds its limit, and the order holds`,
    async () => {
      const { handOuts, faults } = await storm({ seed: 1, ms: 3000, processes: 5, site });
      assert(handOuts > 300, `${handOuts} hand-outs`);
      for (const kind of FAULTS[site]) assert(faults[kind]! > 0, kind);
    },
  );
}
