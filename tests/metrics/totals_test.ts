/** Totals: everything that queues and pools have counted since their creation. */

import { assertEquals } from "@std/assert";
import {
  createExponentialLimiter,
  createPriorityDiscipline,
  createRateLimitingQueue,
  createWorkQueue,
  TerminalError,
} from "@workqueue/core";
import { totalsOf } from "@workqueue/core/metrics";
import { runWorkers } from "@workqueue/core/workers";
import { HandClock } from "../helpers.ts";
import { flush, take } from "../queue_helpers.ts";

const NONE = { maxRetries: 0, terminal: 0, shutdown: 0, stalled: 0, limiter: 0 };

Deno.test("totals: a queue counts each hand-out, whatever the outcome, and its layers count the same", () => {
  for (const newDiscipline of [() => undefined, () => createPriorityDiscipline<string>()]) {
    const queue = createWorkQueue<string>({ discipline: newDiscipline() });
    const limiter = createExponentialLimiter<string>({ baseDelay: 1, maxDelay: 1 });
    const layered = createRateLimitingQueue<string>(limiter, { discipline: newDiscipline() });
    for (const one of [queue, layered]) {
      assertEquals(totalsOf(one), { handedOut: 0 });
      one.add("a");
      one.add("b");
      const lease = take(one);
      one.add("a");
      lease[Symbol.dispose]();
      take(one);
      take(one);
      assertEquals(totalsOf(one), { handedOut: 3 });
    }
  }
});

Deno.test("totals: a pool counts successes, failures and given-up items", async () => {
  const clock = new HandClock();
  const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 10, maxDelay: 10 }), { clock });
  const pool = runWorkers(queue, async (item, { attempt, signal }) => {
    if (item === "hopeless") throw new TerminalError("no");
    if (item === "late") {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return;
    }
    if (item === "again" && attempt === 1) return { requeue: true };
    if (item === "flaky" && attempt === 1) throw new Error("a hiccup");
  }, { concurrency: 5, timeout: 5, maxRetries: 1, onError() {} });
  for (const item of ["fine", "hopeless", "again", "flaky", "late"]) queue.add(item);
  await flush();
  assertEquals(totalsOf(pool), { ...{ succeeded: 2, failed: 2, givenUp: 1 }, givenUpFor: { ...NONE, terminal: 1 } });
  for (let i = 0; i < 6; i++) await clock.advance(5);
  // "again" and "flaky" have succeeded. "late" has failed twice.
  assertEquals(totalsOf(pool), {
    ...{ succeeded: 4, failed: 4, givenUp: 2 },
    givenUpFor: { ...NONE, terminal: 1, maxRetries: 1 },
  });
  assertEquals(totalsOf(queue), { handedOut: 8 });
  await pool.stop();
});

Deno.test("totals: an object that is not a queue or pool of this package has none", () => {
  assertEquals(totalsOf({}), {});
});
