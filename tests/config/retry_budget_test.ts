/** Tests of `retryBudget` in documents. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { type ConfigChange, ConfigError, createRetryBudget, loadConfig, type RateLimitingQueue } from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { takeAll } from "../queue_helpers.ts";

const limiter = { type: "exponential", baseDelay: 10, maxDelay: 10 } as const;
const document = (retryBudget?: { ratio: number; minRate: number }) => ({
  queues: { q: retryBudget === undefined ? { limiter } : { limiter, retryBudget } },
});
const TIGHT = { ratio: 0.5, minRate: 0.01 };
const WIDE = { ratio: 0.5, minRate: 10 };

/** Adds retries of these keys, and waits until they are due. */
async function retry(queue: RateLimitingQueue<string>, clock: HandClock, ...keys: string[]) {
  for (const key of keys) queue.addRateLimited(key);
  await clock.advance(10);
}

const counts = (queue: RateLimitingQueue<string>) => [queue.length, queue.snapshot().blocked];

Deno.test("rule 18: a document sets a queue's budget, and a reload changes it at once and keeps the credit", async () => {
  const clock = new HandClock();
  const config = loadConfig(document(TIGHT));
  assertEquals(config.describe("q").retryBudget, TIGHT);
  const queue = config.queue<string>("q", { clock });
  queue.add("1");
  await retry(queue, clock, "a", "b", "c", "d");
  assertEquals(takeAll(queue), ["1", "a"]);

  const changes: ConfigChange[] = [{ path: "/queues/q/retryBudget", old: TIGHT, new: WIDE, inForce: "now" }];
  assertEquals(config.reload(document(WIDE), { dryRun: true }), changes);
  await clock.advance(1000);
  assertEquals(counts(queue), [0, 3]);
  assertEquals(config.reload(document(WIDE)), changes);
  await clock.advance(0);
  assertEquals(takeAll(queue), ["b"]);
  await clock.advance(100);
  assertEquals(takeAll(queue), ["c"]);

  config.reload(document(TIGHT));
  queue.add("2"); // with 1, two first attempts, half a retry each
  assertEquals(takeAll(queue), ["2", "d"]);
  queue.shutDown();
  assertEquals(clock.timers, 0);
});

Deno.test("rule 18: adding or removing the option applies to queues that are created later, as reported", async () => {
  const clock = new HandClock();
  const config = loadConfig(document());
  const before = config.queue<string>("q", { clock });
  assertEquals(config.reload(document(TIGHT)), [
    { path: "/queues/q/retryBudget", new: TIGHT, inForce: "nextStart" },
  ]);
  const queue = config.queue<string>("q", { clock });
  assertEquals(config.reload(document()), [{ path: "/queues/q/retryBudget", old: TIGHT, inForce: "nextStart" }]);
  const after = config.queue<string>("q", { clock });
  config.reload(document(WIDE));
  for (const each of [before, queue, after]) await retry(each, clock, "a", "b");
  assertEquals([before, queue, after].map(counts), [[2, 0], [1, 1], [2, 0]]);

  config.reload({ queues: {} });
  await clock.advance(50_000);
  assertEquals(counts(queue), [1, 1], "a queue that a document lacks goes on");
  for (const each of [before, queue, after]) each.shutDown();
});

Deno.test("rule 18: a budget in code overrides the budgets of all documents", async () => {
  const clock = new HandClock();
  const config = loadConfig(document(WIDE));
  const queue = config.queue<string>("q", { clock, retryBudget: createRetryBudget(TIGHT) });
  await retry(queue, clock, "a", "b");
  config.reload(document({ ratio: 1, minRate: 100 }));
  await clock.advance(50_000);
  assertEquals(counts(queue), [1, 1]);
  queue.shutDown();
});

Deno.test("rule 10: every problem of a budget in a document is reported in its place", () => {
  const { issues } = assertThrows(
    () => loadConfig(document({ ratio: -0.1, minrate: 1 } as never)),
    ConfigError,
  );
  assertEquals(
    issues.map(({ path }) => path),
    ["ratio", "minRate", "minrate"].map((name) => `/queues/q/retryBudget/${name}`),
  );
  assert(issues[0]!.message.includes("must be a non-negative finite number"));
});
