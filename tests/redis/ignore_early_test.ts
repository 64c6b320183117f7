/** Tests of limiters that ignore early failures, on a server. */

import { assertEquals } from "@std/assert";
import { limiters, runWorkers } from "@workqueue/core";
import { createRedisQueue } from "@workqueue/redis";
import { planLimiter } from "../../packages/engine/limiter_plan.ts";
import { issuesOf } from "../helpers.ts";
import { type Bench, engineTest } from "./bench.ts";
import { redisTest, uniqueName } from "./redis_tests.ts";

const EXPONENTIAL = { type: "exponential", baseDelay: "10s", maxDelay: "1h" } as const;
const IGNORING = { type: "ignore-early", limiter: EXPONENTIAL } as const;
const plan = planLimiter("test", limiters.describe(IGNORING));

/** Takes `a`. Returns its token, and the number of its failures. */
async function take(bench: Bench): Promise<{ token: string; failures: number }> {
  const { taken: [a] } = await bench.take("o");
  return { token: a!.token, failures: a!.failures };
}

async function fail(bench: Bench, token: string): Promise<void> {
  const finish = { key: "a", token, kind: "retry", delay: 0, rules: plan.rules, reason: "down" } as const;
  await bench.turn("o", [finish]);
}

engineTest("rule 17: an attempt that began before the retry was due is not counted", async (bench) => {
  await bench.add("a");
  const first = await take(bench);
  assertEquals(first.failures, 0);
  await fail(bench, first.token); // the retry is due after 10 s

  await bench.pass(4000);
  await bench.add("a");
  const early = await take(bench);
  assertEquals(early.failures, 1);
  await bench.pass(1000);
  await fail(bench, early.token);

  await bench.pass(4000);
  await bench.add("a");
  const overDue = await take(bench);
  assertEquals(overDue.failures, 1);
  await bench.pass(2000); // the retry is due meanwhile
  await fail(bench, overDue.token);

  const retry = await take(bench);
  assertEquals(retry.failures, 1);
  await fail(bench, retry.token); // the next retry is due after 20 s
  await bench.pass(19_990);
  assertEquals((await bench.take("o")).taken, []);
  await bench.pass(20);
  const second = await take(bench);
  assertEquals(second.failures, 2);
}, { limiter: plan });

redisTest("rule 17: on a server, early failures don't count for maxRetries", async ({ url }) => {
  await using queue = createRedisQueue<string>({ name: uniqueName("queue"), url, limiter: IGNORING });
  const attempts: number[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const pool = runWorkers(queue, (_key, { attempt }) => {
    attempts.push(attempt);
    if (attempts.length === 5) return resolve();
    void queue.add("a"); // an event during the attempt
    throw new Error("down");
  }, { maxRetries: 1, onError() {} });
  await queue.add("a");
  await promise;
  await pool.stop();
  assertEquals(attempts, [1, 2, 2, 2, 2]);
});

Deno.test("rule 17: on a server, ignore-early must be the outermost limiter", () => {
  const inside = { type: "max-of", limiters: [EXPONENTIAL, IGNORING] } as const;
  assertEquals(issuesOf(() => planLimiter("test", limiters.describe(inside))), [
    {
      path: "/limiters/1",
      message: '"ignore-early" must be around all other limiters in a queue that processes share',
    },
  ]);
});
