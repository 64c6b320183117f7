/**
 * Compares the policies in Lua with those in TypeScript: the same random inputs must have the same outcomes. To try
 * other inputs, set `WORKQUEUE_SEED`.
 */

import { assert, assertEquals } from "@std/assert";
import process from "node:process";
import { redisTest, type SharedServer, uniqueName } from "../redis_tests.ts";
import { type Case, MAKERS, Random } from "./policy_cases.ts";
import { policyScript } from "./policy_script.ts";

const SEED = Number(process.env["WORKQUEUE_SEED"] ?? 1);
const CASES = 3000;
/** Number of cases in one call of a script. */
const PART = 250;

/** Returns the outcomes of cases in Lua. */
async function inLua(server: SharedServer, script: string, cases: readonly Case[]): Promise<unknown[]> {
  const inputs = JSON.stringify(cases.map((one) => one.inputs));
  const reply = await server.call("EVAL", script, "1", `workqueue:{${uniqueName("policy")}}:meta`, inputs);
  return JSON.parse(reply as string, (_, value) => {
    return typeof value === "string" && value.startsWith("#") ? Number(value.slice(1)) : value;
  });
}

for (const [policy, make] of Object.entries(MAKERS)) {
  redisTest(
    `policies in Lua: ${policy}: ${CASES} random inputs have the same results as in TypeScript`,
    async (server) => {
      console.log(`seed ${SEED}`);
      const random = new Random(SEED);
      const script = policyScript(policy);
      const seen = new Set<string>();
      for (let from = 0; from < CASES; from += PART) {
        const cases = Array.from({ length: PART }, () => make(random));
        const outcomes = await inLua(server, script, cases);
        for (const [i, one] of cases.entries()) {
          seen.add(JSON.stringify(one.outcomes));
          assertEquals(outcomes[i], one.outcomes, `seed ${SEED}, case ${from + i}: ${JSON.stringify(one.inputs)}`);
        }
      }
      assert(seen.size > 1, "all cases have the same outcome");
    },
  );
}
