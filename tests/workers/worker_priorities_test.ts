/** Priorities of items in pools, and the lease information in a handler's context. */

import { assertEquals } from "@std/assert";
import {
  createExponentialLimiter,
  createRateLimitingQueue,
  type Outcome,
  type RateLimitingQueue,
  runWorkers,
} from "@workqueue/core";
import { type Engine, inMemory, test } from "./engines.ts";
import { HandClock } from "../helpers.ts";
import { flush } from "../queue_helpers.ts";

const limiter = () => createExponentialLimiter({ baseDelay: 10, maxDelay: 10 });

function newQueue(clock: HandClock): RateLimitingQueue<string> {
  return createRateLimitingQueue<string>(limiter(), { clock });
}

/** Adds an item with priority 5, whose first attempt calls `end`. Returns the priorities of all its attempts. */
async function prioritiesOf({ runWorkers }: Engine, end: () => unknown): Promise<number[]> {
  const clock = new HandClock();
  const queue = newQueue(clock);
  const seen: number[] = [];
  const pool = runWorkers(queue, (_item, { priority }) => {
    seen.push(priority);
    if (seen.length === 1) return end() as Outcome;
  }, { onError() {} });
  queue.add("a", { priority: 5 });
  await flush();
  await clock.advance(100);
  await pool.stop();
  return seen;
}

Deno.test("rule 12: retries, requeue and requeueAfter keep the priority unless the outcome has another", async () => {
  const fail = () => {
    throw new Error("no");
  };
  assertEquals(await prioritiesOf(inMemory, fail), [5, 5]);
  assertEquals(await prioritiesOf(inMemory, () => ({ requeue: true })), [5, 5]);
  assertEquals(await prioritiesOf(inMemory, () => ({ requeueAfter: 20 })), [5, 5]);
  assertEquals(await prioritiesOf(inMemory, () => ({ requeue: true, priority: undefined })), [5, 5]);
  for (const priority of [7, -3, 0]) {
    assertEquals(await prioritiesOf(inMemory, () => ({ requeue: true, priority })), [5, priority]);
    assertEquals(await prioritiesOf(inMemory, () => ({ requeueAfter: 20, priority })), [5, priority]);
  }
  assertEquals(await prioritiesOf(inMemory, () => ({ requeue: false, priority: 7 })), [5]);
  assertEquals(
    await prioritiesOf(inMemory, () => ({ priority: 7 })),
    [5],
    "that is no outcome, but what the handler found out",
  );
});

test("rule 11: an invalid or misspelt priority fails the attempt", async ({ runWorkers }) => {
  const cases: [outcome: unknown, message: string][] = [
    [{ requeue: true, priority: "high" }, `Cannot add item: 'priority' must be a finite number, got "high"`],
    [{ requeueAfter: 5, priority: NaN }, `Cannot add item: 'priority' must be a finite number, got NaN`],
    [{ requeueAfter: 5, prio: 3 }, `Cannot requeue item: "prio" is not an outcome`],
    [{ requeueAfter: 0, prio: 3 }, `Cannot requeue item: "prio" is not an outcome`],
    [{ requeue: true, priorty: 3 }, `Cannot requeue item: "priorty" is not an outcome; did you mean "priority"?`],
    [{ requeue: false, priorty: 3 }, ""],
    [{ requeueAfter: 5, progress: 3, product: 7 }, ""],
  ];
  for (const [outcome, message] of cases) {
    const clock = new HandClock();
    const queue = newQueue(clock);
    const errors: unknown[] = [];
    const pool = runWorkers(queue, (_item, { attempt }) => attempt === 1 ? outcome as Outcome : undefined, {
      onError: (error) => void errors.push((error as Error).message),
    });
    queue.add("a");
    await flush();
    assertEquals(errors, message === "" ? [] : [message]);
    await pool.stop();
    queue.shutDown();
  }
});

test("rule 12: an item that goes back keeps its priority: interrupted, paused, stopped, or in a drain", async ({ runWorkers }) => {
  for (const way of ["abort", "pause", "stop", "abort while draining"]) {
    const clock = new HandClock();
    const queue = newQueue(clock);
    const controller = new AbortController();
    const pool = runWorkers(queue, (_item, { signal }) => {
      return new Promise<void>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    }, { signal: controller.signal });
    await flush();
    queue.add("a", { priority: 5 });
    if (way.startsWith("abort")) {
      await flush();
      if (way !== "abort") queue.shutDownWithDrain({ delayed: "wait" });
      controller.abort();
    } else if (way === "pause") pool.pause();
    else pool.stop();
    await flush();
    assertEquals(queue.tryGet()?.priority, 5, way);
    pool.stop();
    queue.shutDown();
  }
});

Deno.test("a handler can see whether its item was added again so far", async () => {
  const clock = new HandClock();
  const queue = newQueue(clock);
  const seen: boolean[] = [];
  const pool = runWorkers(queue, async (_item, context) => {
    const { addedAgain } = context; // `addedAgain` also works when it is destructured
    seen.push(context.addedAgain(), addedAgain());
    if (seen.length === 2) queue.add("a");
    await flush();
    seen.push(context.addedAgain(), addedAgain());
  });
  queue.add("a");
  await flush();
  await flush();
  await flush();
  assertEquals(seen, [false, false, true, true, false, false, false, false]);
  await pool.stop();
});
