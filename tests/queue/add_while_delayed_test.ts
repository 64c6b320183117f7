/**
 * Tests of `addWhileDelayed: "replace"`: a key can be ready, delayed, or marked as added again while processing, but is
 * never in two of these states at once. The tests also hold for `"fold"`, because no attempt fails in a pool.
 */

import { assertEquals, assertFalse, assertThrows } from "@std/assert";
import {
  createDelayingQueue,
  createExponentialLimiter,
  createRateLimitingQueue,
  type RateLimitingQueue,
} from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { HighestFirst, isSettled, take, takeAll } from "../queue_helpers.ts";

const limiter = () => createExponentialLimiter<string>({ baseDelay: 10, maxDelay: 1000 });
const keyOf = (item: string) => item.toUpperCase();

const queues: Record<string, (clock: HandClock) => RateLimitingQueue<string>> = {
  "ours": (clock) => createRateLimitingQueue(limiter(), { clock, addWhileDelayed: "replace" }),
  "ours that folds": (clock) => createRateLimitingQueue(limiter(), { clock, addWhileDelayed: "fold" }),
  "ours with keyOf": (clock) => createRateLimitingQueue(limiter(), { clock, addWhileDelayed: "replace", keyOf }),
  "ours with keyOf that folds": (clock) =>
    createRateLimitingQueue(limiter(), { clock, addWhileDelayed: "fold", keyOf }),
  "ours with a discipline": (clock) =>
    createRateLimitingQueue(limiter(), { clock, addWhileDelayed: "replace", discipline: new HighestFirst() }),
};

for (const [name, make] of Object.entries(queues)) {
  const setUp = () => {
    const clock = new HandClock();
    const queue = make(clock);
    return { clock, queue, counts: () => [queue.length, queue.delayed, queue.processing] };
  };

  Deno.test(`${name}: an add removes the delayed item, and its timer`, async () => {
    const { clock, queue, counts } = setUp();
    queue.addAfter("a", 10, { priority: 5 });
    queue.add("a", { priority: 2 });
    assertEquals([...counts(), clock.timers], [1, 0, 0, 0]);
    assertEquals(take(queue).priority, 5, "the higher of the two");
    queue.done("a");
    await clock.advance(10);
    assertEquals(counts(), [0, 0, 0]);
  });

  Deno.test(`${name}: a delayed add of a ready item has no effect, because the earlier time counts`, async () => {
    const { clock, queue, counts } = setUp();
    queue.add("a", { priority: 2 });
    queue.addAfter("a", 10, { priority: 5 });
    assertEquals([...counts(), clock.timers], [1, 0, 0, 0]);
    assertEquals(take(queue).priority, 5);
    queue.done("a");
    await clock.advance(10);
    assertEquals(counts(), [0, 0, 0]);
  });

  Deno.test(`${name}: a processing item can be delayed, until it is added`, async () => {
    const { clock, queue, counts } = setUp();
    queue.add("a");
    const lease = take(queue);
    queue.addAfter("a", 10, { priority: 3 });
    assertEquals([...counts(), lease.addedAgain()], [0, 1, 1, false]);
    queue.add("a", { priority: 1 });
    assertEquals([...counts(), lease.addedAgain()], [0, 0, 1, true]);
    lease[Symbol.dispose]();
    assertEquals(take(queue).priority, 3);
    queue.done("a");
    await clock.advance(10);
    assertEquals(counts(), [0, 0, 0]);
  });

  Deno.test(`${name}: a delayed add of a processing item that was added again is folded into that add`, async () => {
    const { clock, queue, counts } = setUp();
    queue.add("a");
    const lease = take(queue);
    queue.add("a", { priority: 1 });
    queue.addAfter("a", 10, { priority: 3 });
    assertEquals([...counts(), clock.timers], [0, 0, 1, 0]);
    lease[Symbol.dispose]();
    assertEquals(take(queue).priority, 3);
    queue.done("a");
    await clock.advance(10);
    assertEquals(counts(), [0, 0, 0]);
  });

  Deno.test(`${name}: an item that is delayed while processing comes when it is due, after the attempt`, async () => {
    const { clock, queue, counts } = setUp();
    queue.add("a");
    const lease = take(queue);
    queue.addAfter("a", 10);
    await clock.advance(10);
    assertEquals([...counts(), lease.addedAgain()], [0, 0, 1, true]);
    lease[Symbol.dispose]();
    assertEquals(takeAll(queue), ["a"]);
  });

  Deno.test(`${name}: the earlier of two delays counts, as always`, async () => {
    const { clock, queue, counts } = setUp();
    for (const delay of [20, 10, 30]) queue.addAfter("a", delay);
    await clock.advance(10);
    assertEquals(counts(), [1, 0, 0]);
  });

  Deno.test(`${name}: a delay of zero is an immediate add, also for a delayed item`, () => {
    const { queue, counts } = setUp();
    queue.addAfter("a", 10);
    queue.addAfter("a", 0);
    assertEquals(counts(), [1, 0, 0]);
  });

  Deno.test(`${name}: addRateLimited of a ready item counts a failure, and adds nothing`, () => {
    const { queue, counts } = setUp();
    queue.add("a");
    queue.addRateLimited("a");
    assertEquals([...counts(), queue.numRequeues("a")], [1, 0, 0, 1]);
  });

  Deno.test(`${name}: an add replaces a delayed retry, whose failures stay counted`, async () => {
    const { clock, queue, counts } = setUp();
    queue.addRateLimited("a");
    queue.add("a");
    assertEquals([...counts(), queue.numRequeues("a")], [1, 0, 0, 1]);
    takeAll(queue);
    await clock.advance(10);
    assertEquals(counts(), [0, 0, 0]);
  });

  Deno.test(`${name}: when an add replaces a delayed item, the queue is never idle or over its bound in between`, async () => {
    const { queue } = setUp();
    queue.add("b");
    take(queue);
    queue.add("b");
    queue.addAfter("b", 10); // no effect, because b is already marked as added again
    queue.addAfter("a", 10);
    queue.done("b");
    takeAll(queue);
    const idle = queue.whenIdle();
    queue.add("a");
    assertFalse(await isSettled(idle));
    takeAll(queue);
    await idle;
  });

  Deno.test(`${name}: while it drains, a retry of a processing item that was added again is folded into that add`, async () => {
    const { clock, queue, counts } = setUp();
    queue.add("a");
    const lease = take(queue);
    queue.add("a");
    const drained = queue.shutDownWithDrain({ delayed: "wait" });
    queue.addRateLimited("a");
    assertEquals([...counts(), clock.timers], [0, 0, 1, 0]);
    lease[Symbol.dispose]();
    assertEquals(takeAll(queue), ["a"]);
    await drained;
  });
}

Deno.test('rule 8, "replace": the newest item with a key is the one handed out, whichever way it was added', () => {
  const keyOf = ({ id }: { id: number; version: number }) => id;
  const queue = createDelayingQueue({ keyOf, clock: new HandClock(), addWhileDelayed: "replace" });
  queue.addAfter({ id: 1, version: 1 }, 10);
  queue.add({ id: 1, version: 2 });
  queue.addAfter({ id: 1, version: 3 }, 10);
  assertEquals(takeAll(queue), [{ id: 1, version: 3 }]);
});

Deno.test('"keep" is the default: a delayed item can be ready as well, and comes twice', async () => {
  for (const addWhileDelayed of [undefined, "keep"] as const) {
    const clock = new HandClock();
    const queue = createDelayingQueue<string>({ clock, addWhileDelayed });
    queue.addAfter("a", 10);
    queue.add("a");
    assertEquals([queue.length, queue.delayed], [1, 1]);
    assertEquals(takeAll(queue), ["a"]);
    await clock.advance(10);
    assertEquals(takeAll(queue), ["a"]);
  }
});

Deno.test("rule 10: addWhileDelayed is one of three words", () => {
  const creates = [
    ["create delaying queue", (options: never) => createDelayingQueue(options)],
    ["create rate limiting queue", (options: never) => createRateLimitingQueue(limiter(), options)],
  ] as const;
  for (const [action, create] of creates) {
    for (const [value, received] of [["drop", '"drop"'], ["", '""'], [true, "true"], [null, "null"]] as const) {
      const error = assertThrows(() => create({ addWhileDelayed: value } as never), TypeError);
      assertEquals(
        error.message,
        `Cannot ${action}: 'addWhileDelayed' must be one of "keep", "replace", "fold", got ${received}`,
      );
    }
  }
});
