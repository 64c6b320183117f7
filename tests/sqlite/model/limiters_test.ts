/** Comparisons of the limiters in a file with the in-memory limiters. */

import { bucketChangesModel } from "../../contracts/bucket_changes_model.ts";
import { limiterExamplesSuite } from "../../contracts/limiter_examples_suite.ts";
import type { LimiterTest } from "../../contracts/limiter_steps.ts";
import { limitersModel } from "../../contracts/limiters_model.ts";
import { reloadModel } from "../../contracts/reload_model.ts";
import { openStore } from "../model_store.ts";

const limiterTest: LimiterTest = (name, run) => {
  Deno.test(`SQLite, ${name}`, async () => {
    await using store = openStore();
    await run(await store.openLimiters("limiters"));
  });
};

limiterExamplesSuite(limiterTest);
limitersModel(limiterTest);
bucketChangesModel(limiterTest);
reloadModel(limiterTest);
