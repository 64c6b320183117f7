/** Test that a queue on Redis behaves like client-go: see `tests/contracts/engine_traces.ts`. */

import { engineTraces } from "../../contracts/engine_traces.ts";
import { redisTest } from "../redis_tests.ts";
import { openReplays } from "../replay_store.ts";

engineTraces((name, run) => {
  redisTest(`Redis, ${name}`, async ({ url }) => {
    await using store = await openReplays(url);
    await run(store);
  });
});
