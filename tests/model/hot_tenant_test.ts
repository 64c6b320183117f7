/**
 * Rule 13, as a trial: one of five tenants answers 429 with `Retry-After` for a while. The real queue and pool run
 * under virtual time.
 */

import { assert, assertEquals } from "@std/assert";
import {
  createExponentialLimiter,
  createFairDiscipline,
  createRateLimitingQueue,
  RetryAfterError,
  type RetryScope,
  runWorkers,
} from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { flush, randomNumbers } from "../queue_helpers.ts";

const TENANTS = ["hot", "b", "c", "d", "e"];
const ITEMS = 300;

interface Trial {
  readonly scope: RetryScope;
  readonly seed: number;
  readonly outageMs: number;
  readonly retryAfterMs: number;
  readonly workers: number;
  /** Whether items of the hot tenant are added during the outage as well. */
  readonly addsMore?: boolean;
}

async function run({ scope, seed, outageMs, retryAfterMs, workers, addsMore = false }: Trial) {
  const clock = new HandClock();
  const random = randomNumbers(seed);
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 20, maxDelay: 500 }), {
    clock,
    discipline: createFairDiscipline({ separator: "/" }),
  });
  const from = 200;
  const refused: number[] = [];
  const givenUp: string[] = [];
  const lastDone = new Map<string, number>();
  let running = 0;
  let inFlight = 0;
  let isReady = false;
  const pool = runWorkers(queue, async (item) => {
    const [tenant] = item.split("/") as [string];
    if (tenant === "hot") running++;
    await new Promise<void>((resolve) => clock.setTimeout(resolve, 5 + Math.floor(random() * 10)));
    if (tenant === "hot") {
      if (clock.time >= from && clock.time < from + outageMs) {
        if (refused.push(clock.time) === 1) inFlight = running;
        running--;
        throw new RetryAfterError(retryAfterMs, "429", { scope });
      }
      running--;
    }
    lastDone.set(tenant, clock.time);
  }, { concurrency: workers, maxRetries: 5, onError() {}, onGiveUp: (_error, item) => void givenUp.push(item) });
  for (let i = 0; i < ITEMS; i++) for (const tenant of TENANTS) queue.add(`${tenant}/${i}`);
  if (addsMore) { for (let i = 1; i < 40; i++) queue.addAfter(`hot/more ${i}`, from + i * outageMs / 40); }
  const idle = queue.whenIdle().then(() => isReady = true);
  await flush();
  while (!isReady) assert(clock.fireNext(), "nothing is stuck"), await settle();
  await idle;
  await pool.stop();
  assertEquals([queue.snapshot().blocked, queue.delayed, queue.processing, clock.timers], [0, 0, 0, 0]);
  return { refused, inFlight, givenUp, lastDone };
}

/** Lets the handlers continue whose timers have fired. */
async function settle(): Promise<void> {
  for (let i = 0; i < 12; i++) await undefined;
}

const trials: Omit<Trial, "scope" | "seed">[] = [
  { outageMs: 2000, retryAfterMs: 2000, workers: 20 },
  { outageMs: 2000, retryAfterMs: 500, workers: 20 },
  { outageMs: 2000, retryAfterMs: 300, workers: 50, addsMore: true },
  { outageMs: 5000, retryAfterMs: 1000, workers: 3 },
];

Deno.test("rule 13: a tenant whose server answers 429 gets one request per Retry-After, and no item is given up", async () => {
  for (const trial of trials) {
    for (let seed = 1; seed <= 5; seed++) {
      const { refused, inFlight, givenUp, lastDone } = await run({ ...trial, scope: "group", seed });
      const most = inFlight + Math.ceil(trial.outageMs / trial.retryAfterMs);
      assert(refused.length > 0 && refused.length <= most, `${refused.length} of ${most}: ${refused}`);
      assertEquals(givenUp, []);
      assert(lastDone.get("hot")! >= 200 + trial.outageMs);
      const probes = refused.slice(inFlight);
      for (const [i, time] of probes.entries()) {
        if (i > 0) assert(time - probes[i - 1]! >= trial.retryAfterMs, "one request per Retry-After");
      }
    }
  }
});

Deno.test("rule 13: the other tenants are done no later than without the outage", async () => {
  for (const trial of trials) {
    const without = await run({ ...trial, outageMs: 0, scope: "group", seed: 1 });
    const { lastDone } = await run({ ...trial, scope: "group", seed: 1 });
    for (const tenant of TENANTS.slice(1)) {
      const most = without.lastDone.get(tenant)! + 15; // an item takes at most 15 ms
      assert(lastDone.get(tenant)! <= most, `${tenant}: ${lastDone.get(tenant)} and ${most}`);
    }
  }
});

Deno.test('the same trial with scope "item" sends many more requests and gives items up', async () => {
  const { refused, givenUp } = await run({ ...trials[2]!, scope: "item", seed: 1 });
  assert(refused.length > 500 && givenUp.length > 0, `${refused.length} requests, ${givenUp.length} given up`);
});
