/** Comparisons of the limiters in the scripts with the in-memory limiters. */

import { bucketChangesModel } from "../../contracts/bucket_changes_model.ts";
import { limiterExamplesSuite } from "../../contracts/limiter_examples_suite.ts";
import type { LimiterTest } from "../../contracts/limiter_steps.ts";
import { limitersModel } from "../../contracts/limiters_model.ts";
import { reloadModel } from "../../contracts/reload_model.ts";
import { LimiterScript } from "../limiter_script.ts";
import { redisTest, uniqueName } from "../redis_tests.ts";

const limiterTest: LimiterTest = (name, run) => {
  redisTest(`Redis, ${name}`, async ({ url }) => {
    await using script = await LimiterScript.connect(url, uniqueName("limiters"));
    await run(script);
  });
};

limiterExamplesSuite(limiterTest);
limitersModel(limiterTest);
bucketChangesModel(limiterTest);
reloadModel(limiterTest);
