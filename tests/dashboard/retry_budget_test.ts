/** Retries that wait for the retry budget, on the dashboard: the reason, the numbers, and "Retry now". */

import { assertEquals } from "@std/assert";
import { FakeTime } from "@std/testing/time";
import {
  createDefaultItemLimiter,
  createExponentialLimiter,
  createRateLimitingQueue,
  createRetryBudget,
  runWorkers,
} from "@workqueue/core";
import { flush } from "../queue_helpers.ts";
import { Asked } from "./dashboards.ts";

/** Starts a queue whose three items have failed. After their delay, one is tried again, and two wait for budget. */
async function start(time: FakeTime, addWhileDelayed: "keep" | "replace" | "fold") {
  const limiter = createExponentialLimiter<string>({ baseDelay: 100, maxDelay: "1m" });
  const queue = createRateLimitingQueue(limiter, {
    addWhileDelayed,
    retryBudget: createRetryBudget({ ratio: 0, minRate: 0.001 }),
  });
  const attempts: string[] = [];
  let isDown = true;
  const pool = runWorkers(queue, (key) => {
    attempts.push(key);
    if (isDown) throw new Error("503 try later");
  }, { onError() {} });
  const asked = new Asked({ queues: { pods: { queue, pool } } });
  for (const key of ["a", "b", "c"]) queue.add(key);
  await flush();
  isDown = false;
  time.tick(100);
  await flush();
  assertEquals(attempts.splice(0), ["a", "b", "c", "a"]);
  return {
    ...{ queue, attempts, asked },
    [Symbol.dispose]() {
      asked[Symbol.dispose]();
      queue.shutDown();
      void pool.stop();
    },
  };
}

Deno.test("retry budget: the verdict and the details say how many retries wait for it", async () => {
  using time = new FakeTime();
  using started = await start(time, "keep");
  time.tick(1000);
  const { blockedRetries, reason, counts } = await started.asked.details("pods");
  assertEquals([blockedRetries, counts.blocked], [2, 2]);
  assertEquals(reason.includes("2 retries wait for the retry budget"), true, reason);
});

Deno.test("retry budget: the details of a queue without a budget say so", async () => {
  using asked = new Asked({ queues: { pods: { queue: createRateLimitingQueue(createDefaultItemLimiter()) } } });
  assertEquals((await asked.details("pods")).blockedRetries, null);
});

Deno.test("retry budget: blocked retries can be retried now, with any addWhileDelayed", async () => {
  for (const addWhileDelayed of ["keep", "replace", "fold"] as const) {
    using time = new FakeTime();
    using started = await start(time, addWhileDelayed);
    const { asked, attempts, queue } = started;
    const retry = (body: object) => asked.post("api/queues/pods/retry", body);
    assertEquals(await retry({ failing: true, preview: true }), [200, "2 failing items."]);
    assertEquals(await retry({ key: "c" }), [200, "1 item is ready now."]);
    await flush();
    assertEquals(attempts, ["c"]);
    assertEquals(await retry({ failing: true }), [200, "1 item is ready now."]);
    await flush();
    assertEquals([attempts, queue.snapshot().blocked], [["c", "b"], 0]);
    assertEquals(await retry({ failing: true }), [200, "No delayed item matches: nothing was done."]);
  }
});

Deno.test("retry budget: blocked retries are not delayed, so they are not taken back", async () => {
  using time = new FakeTime();
  using started = await start(time, "keep");
  const answer = await started.asked.post("api/queues/pods/take-back", { failing: true });
  assertEquals(answer, [200, "No delayed item matches: nothing was done."]);
  assertEquals(started.queue.snapshot().blocked, 2);
});
