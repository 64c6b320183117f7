/**
 * Comparison of the Redis engine with the in-memory queue, under random operations.
 *
 * `WORKQUEUE_RUNS=10000 deno task test tests/redis/scripts/model_test.ts` runs more operations: see
 * `tests/contracts/engine_model.ts`.
 */

import { assert } from "@std/assert";
import { compare, engineModel, RUNS, type TwinStore, VARIANTS } from "../../contracts/engine_model.ts";
import type { Operation } from "../../contracts/engine_twins.ts";
import { redisTest } from "../redis_tests.ts";
import { loadOlderRelease, openMixed } from "../releases/older_release.ts";
import { TimedServer } from "../timed_server.ts";

engineModel((name, run) => {
  redisTest(`Redis, ${name}`, async ({ url }) => {
    await using server = await TimedServer.connect(url);
    await run({ open: (...args) => server.engine(...args), clear: (name) => server.clear(name) });
  });
});

/** Returns the operation, without giving up. In the older release, a delayed add does not revive a given-up key. */
function withoutGivingUp(operation: Operation): Operation {
  if (operation.do !== "turn") return operation;
  const ends = operation.ends.map((end) => end.kind === "givenUp" ? { ...end, kind: "succeeded" as const } : end);
  return { ...operation, ends };
}

redisTest("deploy: processes of an older and a newer release share a queue without a discipline", async ({ url }) => {
  await using server = await TimedServer.connect(url);
  await loadOlderRelease(server);
  const store: TwinStore = { open: (...args) => openMixed(server, ...args), clear: (name) => server.clear(name) };
  const { operations } = await compare(store, VARIANTS, { change: withoutGivingUp });
  assert(operations >= RUNS * 40, `${operations} operations`);
});
