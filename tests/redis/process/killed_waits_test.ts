/** Tests of `addAndWait` on Redis between real processes, some of which are killed. */

import { createRedisQueue } from "@workqueue/redis";
import { killedWaitsSuite } from "../../contracts/killed_waits_suite.ts";
import { redisTest, uniqueName } from "../redis_tests.ts";

killedWaitsSuite((test, run) => {
  redisTest(`Redis: ${test}`, async ({ url }) => {
    const name = uniqueName("waits");
    await run({ name, place: url, open: (options) => createRedisQueue({ name, url, ...options }) });
  });
});
