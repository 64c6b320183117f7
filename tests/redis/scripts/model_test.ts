/**
 * Comparison of the Redis engine with the in-memory queue, under random operations.
 *
 * `WORKQUEUE_RUNS=10000 deno task test tests/redis/scripts/model_test.ts` runs more operations: see
 * `tests/contracts/engine_model.ts`.
 */

import { engineModel } from "../../contracts/engine_model.ts";
import { redisTest } from "../redis_tests.ts";
import { TimedServer } from "../timed_server.ts";

engineModel((name, run) => {
  redisTest(`Redis, ${name}`, async ({ url }) => {
    await using server = await TimedServer.connect(url);
    await run({ open: (...args) => server.engine(...args), clear: (name) => server.clear(name) });
  });
});
