/** `cancel` of queues: what it takes out, what it leaves, and what the pools are told. */

import { assert, assertEquals, assertFalse, assertInstanceOf, assertThrows } from "@std/assert";
import * as fc from "fast-check";
import process from "node:process";
import {
  adaptDiscipline,
  createExponentialLimiter,
  createFairDiscipline,
  createPriorityDiscipline,
  createRateLimitingQueue,
  createRetryBudget,
  InMemoryMetrics,
  type QueueDisciplineFor,
  type RateLimitingQueue,
  type RateLimitingQueueOptions,
  runWorkers,
  TerminalError,
} from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { flush, flushPromises, HighestFirst, isSettled, Lifo, take, takeAll } from "../queue_helpers.ts";
import { test } from "../workers/engines.ts";

const RUNS = Number(process.env["WORKQUEUE_RUNS"] ?? 100);

function queueWith(options: RateLimitingQueueOptions<string> = {}): RateLimitingQueue<string> {
  return createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 10, maxDelay: 1000 }), {
    clock: new HandClock(),
    ...options,
  });
}

const disciplines: Record<string, () => QueueDisciplineFor<string> | undefined> = {
  "fifo": () => undefined,
  "priority": () => createPriorityDiscipline({ maxHeadStart: Infinity }),
  "fair": () => createFairDiscipline({ separator: "/" }),
  "own, without remove": () => adaptDiscipline(new Lifo<string>()),
};

for (const [name, discipline] of Object.entries(disciplines)) {
  Deno.test(`cancel, ${name}: a ready item is taken out, and later adds count`, async () => {
    const queue = queueWith({ discipline: discipline() });
    assertEquals(queue.cancel("a"), undefined);
    for (const item of "abc") queue.add(item);
    assertEquals([queue.cancel("b"), queue.cancel("b"), queue.length], ["ready", undefined, 2]);
    queue.add("b");
    assertEquals(queue.length, 3);
    for (const item of "abc") assertEquals(queue.cancel(item), "ready");
    assertEquals([queue.length, queue.tryGet()], [0, undefined]);
    await queue.whenIdle();
    queue.add("d");
    assertEquals(takeAll(queue), ["d"]);
  });
}

Deno.test("cancel: a delayed item is taken out with its failures, and no timer is left", () => {
  const clock = new HandClock();
  const queue = queueWith({ clock });
  queue.addRateLimited("a");
  queue.addRateLimited("a");
  assertEquals([queue.cancel("a"), queue.delayed, queue.numRequeues("a"), clock.timers], ["delayed", 0, 0, 0]);
  queue.addRateLimited("b");
  const lease = take((queue.add("b"), queue));
  assertEquals(queue.cancel("b"), "running");
  assertEquals([queue.delayed, queue.processing], [0, 1]);
  lease[Symbol.dispose]();
  assertEquals([queue.delayed, queue.length, queue.processing], [0, 0, 0]);
});

Deno.test("cancel: an item that is only remembered for its failures is not cancelled", () => {
  const queue = queueWith();
  queue.addRateLimited("a");
  queue.cancelDelayed("a");
  assertEquals([queue.cancel("a"), queue.numRequeues("a")], [undefined, 1]);
});

Deno.test("cancel: blocked items are items of a group at its limit, retries without budget, and all items during a pause", async () => {
  const clock = new HandClock();
  const fair = queueWith({ clock, discipline: createFairDiscipline({ separator: "/", maxPerGroup: 1 }) });
  for (const item of ["a/1", "a/2", "b/1"]) fair.add(item);
  const lease = take(fair);
  assertEquals([fair.snapshot().blocked, fair.cancel("a/2"), fair.cancel("b/1")], [1, "blocked", "ready"]);
  lease[Symbol.dispose]();
  assertEquals(fair.length, 0);
  const budgeted = queueWith({ clock, retryBudget: createRetryBudget({ ratio: 0, minRate: 0 }) });
  budgeted.addRateLimited("a");
  await clock.advance(10);
  assertEquals([budgeted.snapshot().blocked, budgeted.cancel("a"), budgeted.snapshot().blocked], [1, "blocked", 0]);
});

test("rule 22: cancel: a running attempt gets the reason, and its failure is neither reported nor retried", async (engine) => {
  const queue = queueWith();
  const log: unknown[] = [];
  let fail!: (error: Error) => void;
  const pool = engine.runWorkers(queue, (item, { signal }) => {
    log.push(item);
    signal.addEventListener("abort", () => log.push(signal.reason));
    return new Promise<void>((_, reject) => fail = reject);
  }, { onError: (error) => log.push(error), onGiveUp: () => log.push("given up"), maxRetries: 1 });
  queue.add("a");
  await flush();
  queue.add("a"); // forgotten by the cancel
  assertEquals([queue.cancel("a", "stop"), queue.cancel("b")], ["running", undefined]);
  fail(new TerminalError("aborted"));
  await flush();
  assertEquals([log, queue.length, queue.delayed, queue.processing], [["a", "stop"], 0, 0, 0]);
  assertEquals([queue.numRequeues("a"), pool.snapshot().failing], [0, 0]);
  await pool.stop();
});

test("rule 22: cancel: adds after it count, also while the attempt still runs", async (engine) => {
  const queue = queueWith();
  const ends: (() => void)[] = [];
  const pool = engine.runWorkers(queue, () => new Promise<void>((end) => ends.push(end)));
  queue.add("a");
  await flush();
  queue.cancel("a");
  queue.add("a");
  ends[0]!();
  await flush();
  assertEquals([ends.length, queue.cancel("a"), queue.cancel("a")], [2, "running", "running"]);
  ends[1]!();
  await flush();
  assertEquals([ends.length, queue.processing], [2, 0]);
  await pool.stop();
});

test("rule 22: cancel: a failure counted after it stays when the cancelled attempt ends", async (engine) => {
  for (const outcome of ["resolve", "reject"] as const) {
    const queue = queueWith();
    let end!: () => void;
    const pool = engine.runWorkers(queue, () =>
      new Promise<void>((resolve, reject) => {
        end = outcome === "resolve" ? resolve : () => reject(new Error("no"));
      }));
    queue.add("a");
    await flush();
    queue.cancel("a");
    queue.addRateLimited("a");
    end();
    await flush();
    assertEquals([queue.numRequeues("a"), queue.delayed, queue.processing], [1, 1, 0]);
    queue.cancel("a");
    await pool.stop();
  }
});

test("cancel: an attempt whose handler returns an outcome nevertheless counts as done", async (engine) => {
  for (const outcome of [{ requeue: true }, { requeueAfter: 5 }, undefined]) {
    const clock = new HandClock();
    const queue = queueWith({ clock });
    let end!: () => void;
    const pool = engine.runWorkers(queue, async () => {
      await new Promise<void>((resolve) => end = resolve);
      return outcome;
    });
    queue.add("a");
    await flush();
    queue.cancel("a");
    end();
    await flush();
    await clock.advance(10_000);
    assertEquals([queue.delayed, queue.length, queue.processing], [0, 0, 0]);
    await pool.stop();
  }
});

test("cancel: an item handed out in the same turn never begins", async (engine) => {
  const queue = queueWith();
  const begun: string[] = [];
  const pool = engine.runWorkers(queue, (item) => void begun.push(item));
  await flush();
  queue.add("a"); // the pool waits, so it gets the item at once
  assertEquals(queue.cancel("a"), "running");
  queue.add("b");
  await flush();
  assertEquals([begun, queue.processing, queue.length], [["b"], 0, 0]);
  await pool.stop();
});

test("cancel: an attempt that has timed out is not retried", async (engine) => {
  const clock = new HandClock();
  const queue = queueWith({ clock });
  let end!: () => void;
  let attempts = 0;
  const pool = engine.runWorkers(queue, () => {
    attempts++;
    return new Promise<void>((resolve) => end = resolve);
  }, { timeout: 50, onError() {} });
  queue.add("a");
  await flush();
  await clock.advance(50);
  assertEquals(queue.cancel("a"), "running");
  end();
  await flush();
  await clock.advance(10_000);
  assertEquals([attempts, queue.delayed, queue.processing, pool.snapshot().failing], [1, 0, 0, 0]);
  await pool.stop();
});

Deno.test("cancel: the default reason is an error with a code, and a signal that is read later has the reason", async () => {
  const queue = queueWith();
  const reasons: unknown[] = [];
  const pool = runWorkers(queue, async (_item, context) => {
    await new Promise((resolve) => setTimeout(resolve)); // the item is cancelled meanwhile
    reasons.push(context.signal.reason);
  });
  queue.add("a");
  await flushPromises();
  queue.cancel("a");
  await queue.whenIdle();
  assertInstanceOf(reasons[0], Error);
  assertEquals((reasons[0] as { code?: string }).code, "WQ_CANCELLED");
  await pool.stop();
});

Deno.test("cancel: a discipline that throws leaves everything as it was", () => {
  class Refusing extends Lifo<string> {
    remove() {
      throw new Error("no");
    }
  }
  const queue = queueWith({ discipline: adaptDiscipline(new Refusing()) });
  queue.add("a");
  queue.addRateLimited("a");
  assertThrows(() => queue.cancel("a"), Error, "no");
  assertEquals([queue.length, queue.delayed, queue.numRequeues("a")], [1, 1, 1]);
});

Deno.test("cancel: waits and drains end, and the depth falls", async () => {
  const metrics = new InMemoryMetrics();
  const queue = queueWith({ metrics, name: "q" });
  queue.add("a");
  queue.add("b");
  const below = queue.whenBelow(2);
  assertFalse(await isSettled(below));
  queue.cancel("a");
  assert(await isSettled(below));
  const drain = queue.shutDownWithDrain();
  queue.cancel("b");
  assert(await isSettled(drain));
  assertEquals(metrics.value("workqueue_depth", "q"), 0);
});

Deno.test("rule 22: cancel: under random cancels, first in, first out and a user's discipline keep their order", () => {
  const makers: [() => QueueDisciplineFor<string> | undefined, (items: string[]) => string | undefined][] = [
    [() => undefined, (items) => items.shift()],
    [() => new Lifo<string>(), (items) => items.pop()],
    [() => new HighestFirst<string>(), (items) => items.shift()],
  ];
  const key = fc.constantFrom(..."abcdefgh");
  const step = fc.oneof(
    fc.record({ do: fc.constant("add" as const), key }),
    fc.record({ do: fc.constant("cancel" as const), key }),
    fc.record({ do: fc.constant("take" as const), key }),
  );
  for (const [make, next] of makers) {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200, size: "max" }), (steps) => {
        const queue = queueWith({ discipline: make() });
        const items: string[] = [];
        const check = () => {
          const lease = queue.tryGet();
          assertEquals(lease?.item, next(items));
          lease?.[Symbol.dispose]();
        };
        for (const { do: action, key } of steps) {
          const at = items.indexOf(key);
          if (action === "add") {
            queue.add(key);
            if (at < 0) items.push(key);
          } else if (action === "cancel") {
            assertEquals(queue.cancel(key), at < 0 ? undefined : "ready");
            if (at >= 0) items.splice(at, 1);
          } else check();
          assertEquals(queue.length, items.length);
        }
        while (items.length > 0) check();
        assertEquals([queue.length, queue.snapshot().readyItems], [0, []]);
      }),
      { numRuns: RUNS },
    );
  }
});
