/** Test of a program in which other code has changed `Object.prototype`. */

import { assertEquals } from "@std/assert";
import {
  createDefaultControllerLimiter,
  createPriorityDiscipline,
  createRateLimitingQueue,
  createWorkQueue,
  RetryAfterError,
  runWorkers,
  TerminalError,
} from "@workqueue/core";
import { whilePolluted } from "../helpers.ts";

Deno.test("rule 11: queues, pools and errors are created although Object.prototype has a member `get`", async () => {
  const run = () => {
    const queue = createRateLimitingQueue<string>(createDefaultControllerLimiter());
    const errors = [new TerminalError(), new RetryAfterError("1s")];
    const pool = runWorkers(queue, () => {
      throw errors.pop();
    }, { onError() {}, maxRetries: 0 });
    const byPriority = createWorkQueue({ discipline: createPriorityDiscipline() });
    return { queue, pool, byPriority };
  };
  const { queue, pool, byPriority } = whilePolluted({ get: () => undefined }, run) as ReturnType<typeof run>;
  for (const key of ["a", "b"]) queue.add(key);
  byPriority.add("c");
  await queue.shutDownWithDrain();
  await pool.finished;
  assertEquals([queue.length, byPriority.tryGet()?.item], [0, "c"]);
});
