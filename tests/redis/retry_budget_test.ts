/**
 * Tests rule 18 in every window of loads whose processes come and go, with queue objects and pools, under a clock that
 * the test sets. `tests/contracts/engine_retry_budget_suite.ts` tests the budget of engines.
 */

import { assert } from "@std/assert";
import { runWorkers, type WorkerPool } from "@workqueue/core";
import type { LiveRemoteQueue } from "@workqueue/engine";
import { randomNumbers } from "../queue_helpers.ts";
import { redisTest, uniqueName } from "./redis_tests.ts";
import { TimedQueues } from "./timed_queue.ts";

const LIMITER = { type: "exponential", baseDelay: 10, maxDelay: 10 } as const;
/** Number of rounds, and the time that passes in each, in milliseconds. */
const ROUNDS = 6;
const ROUND = 2500;

/** Times of attempts, in milliseconds. */
interface Attempts {
  readonly firsts: number[];
  readonly retries: number[];
}

/** Requires rule 18 in each window that begins and ends with a retry. Workers are idle, so a retry begins at once. */
function requireBudget({ firsts, retries }: Attempts, { ratio, minRate }: { ratio: number; minRate: number }): void {
  for (const [i, from] of retries.entries()) {
    for (let j = i; j < retries.length; j++) {
      const to = retries[j]!;
      const begun = firsts.filter((at) => at >= from - 10_000 && at <= to).length;
      const most = ratio * begun + minRate * (to - from) / 1000 + 1;
      assert(j - i + 1 <= most + 1e-6, `${j - i + 1} retries from ${from} to ${to}, at most ${most}`);
    }
  }
}

for (const [seed, retryBudget] of [{ ratio: 0.5, minRate: 2 }, { ratio: 0, minRate: 5 }].entries()) {
  redisTest(
    `rule 18: processes that start and stop keep to one budget, ${JSON.stringify(retryBudget)}`,
    async ({ url }) => {
      const random = randomNumbers(seed + 1);
      const below = (n: number) => Math.floor(random() * n);
      await using server = await TimedQueues.connect(url);
      const begin = server.time;
      const name = uniqueName("budget");
      const attempts: Attempts = { firsts: [], retries: [] };
      const processes: [LiveRemoteQueue<string>, WorkerPool<string>][] = [];
      const start = () => {
        const queue = server.open(name, { limiter: LIMITER, retryBudget, onQueueError() {} });
        const pool = runWorkers(queue, (_, { attempt }) => {
          attempts[attempt === 1 ? "firsts" : "retries"].push((server.time - begin) / 1000);
          throw new Error("down");
        }, { concurrency: 50, onError() {}, clock: server.clock });
        processes.push([queue, pool]);
      };
      const stop = async () => {
        const [queue, pool] = processes.shift()!;
        await queue.shutDownWithDrain();
        await pool.finished;
      };
      start();
      start();
      for (let round = 0; round < ROUNDS; round++) {
        const [queue] = processes.at(-1)!;
        await queue.addAll(Array.from({ length: 5 + below(15) }, (_, i) => `${round}/${i}`));
        await server.advance(ROUND);
        if (round % 2 === 0) start();
        else await stop();
      }
      const { blocked } = await processes[0]![0].counts();
      assert(blocked > 0, "there are more retries than budget");
      requireBudget(attempts, retryBudget);
      const { firsts, retries } = attempts;
      const allowed = retryBudget.ratio * firsts.length + retryBudget.minRate * (server.time - begin) / 1_000_000;
      assert(retries.length > 0.8 * allowed, `${retries.length} retries of ${allowed} that the budget allows`);
      while (processes.length > 0) await stop();
    },
  );
}
