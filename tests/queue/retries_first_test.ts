/** Places of retries among the ready items: `retriesFirst` and `retryPriority`. The suite is in `tests/contracts/`. */

import { assertEquals, assertThrows } from "@std/assert";
import {
  createExponentialLimiter,
  createPriorityDiscipline,
  createRateLimitingQueue,
  createRetryBudget,
  RetryAfterError,
} from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { flush } from "../queue_helpers.ts";
import { test } from "../workers/engines.ts";

const limiter = () => createExponentialLimiter<never>({ baseDelay: 10, maxDelay: 10 });
const strict = () => createPriorityDiscipline({ maxHeadStart: Infinity });

test("rule 12: retriesFirst: items whose attempts are aborted go behind the others, also with a budget", async (engine) => {
  for (const retryBudget of [undefined, createRetryBudget({ ratio: 1, minRate: 0 })]) {
    const queue = createRateLimitingQueue<string>(limiter(), {
      clock: new HandClock(),
      retriesFirst: true,
      retryBudget,
    });
    const stop = new AbortController();
    const untilAborted = (signal: AbortSignal) =>
      new Promise<void>((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    const interrupted = engine.runWorkers(queue, (_item, { signal }) => untilAborted(signal), { signal: stop.signal });
    for (const item of ["a", "x"]) queue.add(item);
    await flush();
    stop.abort();
    await interrupted.finished;
    const handled: string[] = [];
    const pool = engine.runWorkers(
      queue,
      (item, { signal }) => handled.push(item) > 2 ? undefined : untilAborted(signal),
      {
        whileProcessing: "abort",
      },
    );
    await flush();
    for (const item of ["x", "a"]) {
      queue.add(item);
      await flush();
    }
    assertEquals(handled, ["x", "a", "x", "a"]);
    await pool.stop();
  }
});

test("retriesFirst: a retry that asks for 100 ms doesn't wait for 60 ready items", async (engine) => {
  const clock = new HandClock();
  const queue = createRateLimitingQueue<string>(limiter(), { clock, retriesFirst: true });
  let retriedAt = 0;
  const pool = engine.runWorkers(queue, async (item, { attempt }) => {
    if (item === "a" && attempt === 1) throw new RetryAfterError("100ms");
    if (item === "a") retriedAt = clock.time;
    await new Promise<void>((resolve) => clock.setTimeout(resolve, 20));
  }, { onError() {} });
  queue.add("a");
  for (let i = 0; i < 60; i++) queue.add(`item ${i}`);
  for (let i = 0; i < 200; i++) {
    await flush();
    await clock.advance(10);
  }
  assertEquals(retriedAt, 100);
  await pool.stop();
});

test("retryPriority is the priority of retries, unless the handler asks for another", async (engine) => {
  const clock = new HandClock();
  const queue = createRateLimitingQueue<string>(limiter(), { clock, discipline: strict(), retryPriority: 50 });
  const handled: [string, number][] = [];
  const pool = engine.runWorkers(queue, (item, { attempt, priority }) => {
    handled.push([item, priority]);
    if (attempt === 1 && item === "fails") throw new Error("no");
    return attempt === 1 && item === "asks" ? { requeue: true, priority: 7 } : undefined;
  }, { onError() {} });
  queue.add("fails", { priority: 1 });
  queue.add("asks", { priority: 2 });
  await flush();
  await clock.advance(10);
  await flush();
  assertEquals(handled, [["asks", 2], ["fails", 1], ["fails", 50], ["asks", 7]]);
  queue.addRateLimited("by hand");
  queue.addRateLimited("with priority", { priority: 3 });
  assertEquals(queue.snapshot().delayedItems.map(({ priority }) => priority), [50, 3]);
  await pool.stop();
});

Deno.test("retriesFirst requires first in, first out, and retryPriority requires a discipline", () => {
  const create = (options: object) => () => createRateLimitingQueue(limiter(), options);
  assertThrows(create({ retriesFirst: true, discipline: strict() }), TypeError, "'retriesFirst' is for a queue that");
  assertThrows(create({ retryPriority: 1 }), TypeError, "'retryPriority' is for a queue with priorities");
  assertThrows(create({ retriesFirst: 1 }), RangeError, "'retriesFirst'");
  assertThrows(create({ retryPriority: NaN, discipline: strict() }), RangeError, "'retryPriority'");
  create({ retriesFirst: false, discipline: strict() })();
});
