/** Tests of the engine on SQLite: those of every engine. */

import process from "node:process";
import { engineAgesSuite } from "../contracts/engine_ages_suite.ts";
import { engineCopiesSuite } from "../contracts/engine_copies_suite.ts";
import { engineGivenUpSuite } from "../contracts/engine_given_up_suite.ts";
import { engineOrdersSuite } from "../contracts/engine_orders_suite.ts";
import { engineRetryBudgetSuite } from "../contracts/engine_retry_budget_suite.ts";
import { engineSuite } from "../contracts/engine_suite.ts";
import { engineWaitsSuite } from "../contracts/engine_waits_suite.ts";
import { unknownPartsSuite } from "../contracts/unknown_parts_suite.ts";
import { SQLITE } from "../../packages/sqlite/interpreter.ts";
import { checkOwners } from "../contracts/engine_owners.ts";
import { OFTEN } from "../every.ts";
import { Bench, engineTest } from "./bench.ts";

const given = process.env["WORKQUEUE_RUNS"];

engineSuite(engineTest);
unknownPartsSuite(SQLITE, engineTest);
engineOrdersSuite(engineTest);
engineGivenUpSuite(engineTest);
engineCopiesSuite(engineTest);
engineRetryBudgetSuite(engineTest);
engineAgesSuite(engineTest);
engineWaitsSuite(engineTest);

Deno.test("engine on SQLite: whatever owners do, no key has two owners or is lost, and finished keys no longer count", async () => {
  await checkOwners(async (settings, use) => {
    await using bench = new Bench(settings);
    await use(bench);
  }, { runs: Number(given ?? (OFTEN ? 400 : 100)), seed: 0 });
});
