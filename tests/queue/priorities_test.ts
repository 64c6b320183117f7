/** Rule 12: every layer forwards the priority of an added item to the discipline and to the lease. */

import { assertEquals, assertFalse, assertThrows } from "@std/assert";
import {
  createDelayingQueue,
  createExponentialLimiter,
  createPriorityDiscipline,
  createRateLimitingQueue,
  createWorkQueue,
  type RateLimitingQueue,
  type RateLimitingQueueOptions,
} from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { HighestFirst, Lifo, outcome, take, takeAll } from "../queue_helpers.ts";

const limiter = () => createExponentialLimiter({ baseDelay: 10, maxDelay: 1000 });
const keyOf = (item: string) => item.toUpperCase();

type Make = (options: RateLimitingQueueOptions<string>) => RateLimitingQueue<string>;

/** Layer 3, created in several ways. Each of these queues passes priorities on. */
const queues: Record<string, Make> = {
  "ours": (options) => createRateLimitingQueue(limiter(), options),
  "ours with keyOf": (options) => createRateLimitingQueue(limiter(), { ...options, keyOf }),
};

for (const [name, make] of Object.entries(queues)) {
  const setUp = () => {
    const clock = new HandClock();
    return { clock, queue: make({ clock, discipline: new HighestFirst() }) };
  };

  Deno.test(`rule 12, ${name}: each way to add accepts a priority, and the lease has it`, async () => {
    const { clock, queue } = setUp();
    queue.add("default");
    queue.add("low", { priority: -1 });
    queue.addAfter("high", 10, { priority: 7.5 });
    queue.addRateLimited("higher", { priority: 8 });
    queue.addAfter("at once", 0, { priority: 3 });
    await clock.advance(10);
    const leases = Array.from({ length: 5 }, () => take(queue));
    assertEquals(leases.map(({ item, priority }) => [item, priority]), [
      ["higher", 8],
      ["high", 7.5],
      ["at once", 3],
      ["default", 0],
      ["low", -1],
    ]);
  });

  Deno.test(`rule 12, ${name}: folded adds keep the highest priority until the item is handed out`, async () => {
    const { clock, queue } = setUp();
    for (const priority of [-2, 5, 3]) queue.add("ready", { priority });
    for (const priority of [-9, -2, -5]) queue.addAfter("delayed", 10, { priority });
    assertEquals(queue.snapshot().delayedItems, [{ item: "delayed", priority: -2, dueInMs: 10 }]);
    await clock.advance(10);
    assertEquals([take(queue), take(queue)].map(({ priority }) => priority), [5, -2]);
    for (const item of ["ready", "delayed"]) {
      queue.done(item);
      queue.add(item);
    }
    assertEquals([take(queue), take(queue)].map(({ priority }) => priority), [0, 0]);
  });

  Deno.test(`rule 12, ${name}: a higher priority moves an item that is ready, a lower one does not`, () => {
    const { queue } = setUp();
    queue.add("a", { priority: 1 });
    queue.add("b", { priority: 2 });
    queue.add("a", { priority: 3 });
    queue.add("b", { priority: -3 });
    assertEquals(queue.snapshot().readyItems, [{ item: "a", priority: 3 }, { item: "b", priority: 2 }]);
    assertEquals(takeAll(queue), ["a", "b"]);
  });

  Deno.test(`rule 12, ${name}: ready, delayed and processing have separate priorities, which are merged when the states are`, async () => {
    const { clock, queue } = setUp();
    queue.add("a", { priority: 9 });
    const lease = take(queue);
    queue.add("a", { priority: 1 });
    queue.add("a", { priority: 2 });
    queue.addAfter("a", 10, { priority: 4 });
    const { processingItems, delayedItems } = queue.snapshot();
    assertEquals([processingItems[0]!.priority, delayedItems[0]!.priority], [9, 4]);
    lease[Symbol.dispose]();
    assertEquals(queue.snapshot().readyItems, [{ item: "a", priority: 2 }], "neither 9, of the last pass, nor 4");
    await clock.advance(10);
    assertEquals(queue.snapshot().readyItems, [{ item: "a", priority: 4 }], "what waited has joined it");
    assertEquals(take(queue).priority, 4);
    queue.addAfter("a", 10, { priority: 6 });
    await clock.advance(10);
    queue.done("a");
    assertEquals(take(queue).priority, 6, "joined while it was processing");
  });

  Deno.test(`rule 12, ${name}: an add without a priority is folded like one with priority 0`, () => {
    const { queue } = setUp();
    queue.add("a", { priority: -5 });
    queue.add("a");
    queue.add("b");
    queue.add("b", { priority: -5 });
    assertEquals([take(queue).priority, take(queue).priority], [0, 0]);
  });

  Deno.test(`rule 12, ${name}: all due items are ready before a waiting get is served`, async () => {
    const { clock, queue } = setUp();
    const gets = [queue.get(), queue.get()];
    queue.addAfter("low", 9);
    queue.addAfter("middle", 10, { priority: 1 });
    queue.addAfter("high", 10, { priority: 2 });
    clock.time = 10; // the timer fires late
    await clock.advance(0);
    assertEquals(await Promise.all(gets.map(outcome)), ["high", "middle"]);
    assertEquals(takeAll(queue), ["low"]);
  });

  for (const delayed of ["drop", "flush", "wait"] as const) {
    Deno.test(`rule 12, ${name}: a drain with "${delayed}" keeps priorities`, async () => {
      const { clock, queue } = setUp();
      queue.add("processing", { priority: 1 });
      const lease = take(queue);
      queue.add("processing", { priority: 5 });
      queue.add("ready", { priority: 2 });
      queue.addAfter("delayed", 10, { priority: 3 });
      const drained = queue.shutDownWithDrain({ delayed });
      lease[Symbol.dispose]();
      await clock.advance(10);
      const expected: [string, number][] = [["processing", 5], ["delayed", 3], ["ready", 2]];
      if (delayed === "drop") expected.splice(1, 1);
      assertEquals(queue.snapshot().readyItems, expected.map(([item, priority]) => ({ item, priority })));
      takeAll(queue);
      await drained;
    });
  }

  Deno.test(`rule 12, ${name}: a retry of a draining queue keeps its priority`, async () => {
    const { clock, queue } = setUp();
    queue.add("a", { priority: 1 });
    const lease = take(queue);
    const drained = queue.shutDownWithDrain({ delayed: "wait" });
    queue.addRateLimited("a", { priority: 4 });
    lease[Symbol.dispose]();
    await clock.advance(10);
    assertEquals(take(queue).priority, 4);
    queue.done("a");
    await drained;
  });

  Deno.test(`rule 10, ${name}: invalid options beside an item are refused; nothing is added, and no failure is counted`, () => {
    const { queue } = setUp();
    const cases: [options: unknown, ErrorClass: ErrorConstructor, message: string][] = [
      [0, TypeError, "'options' must be an object, got 0"],
      [5, TypeError, "'options' must be an object, got 5"],
      [null, TypeError, "'options' must be an object, got null"],
      ["high", TypeError, `'options' must be an object, got "high"`],
      [[1], TypeError, "'options' must be an object, got an array"],
      [new AbortController().signal, TypeError, "'options' must be an object, got an object"],
      [{ prority: 1 }, TypeError, `"prority" is not an option here; did you mean "priority"?`],
      [{ weight: 1 }, TypeError, `"weight" is not an option here`],
      [{ priority: 1, weight: 5 }, TypeError, `"weight" is not an option here`],
      [{ priority: NaN }, RangeError, "'priority' must be a finite number, got NaN"],
      [{ priority: Infinity }, RangeError, "'priority' must be a finite number, got Infinity"],
      [{ priority: -Infinity }, RangeError, "'priority' must be a finite number, got -Infinity"],
      [{ priority: "high" }, TypeError, `'priority' must be a finite number, got "high"`],
      [{ priority: null }, TypeError, "'priority' must be a finite number, got null"],
      [{ priority: 1n }, TypeError, "'priority' must be a finite number, got 1n"],
    ];
    for (const [options, ErrorClass, message] of cases) {
      const adds = [
        () => queue.add("a", options as never),
        () => queue.addAfter("a", 10, options as never),
        () => queue.addRateLimited("a", options as never),
      ];
      for (const add of adds) assertEquals(assertThrows(add, ErrorClass).message, `Cannot add item: ${message}`);
    }
    for (const add of [queue.add, queue.addRateLimited]) { // `forEach` would pass the index as the options
      const each = () => ["a", "b"].forEach(add as (item: string) => void, queue);
      assertThrows(each, TypeError, "'options' must be an object, got 0");
    }
    assertThrows(() => queue.add("a", { minDelay: 5 } as never), TypeError, `"minDelay" is not an option here`);
    assertEquals([queue.length, queue.delayed, queue.numRequeues("a")], [0, 0, 0]);
  });

  Deno.test(`rule 10, ${name}: empty options are accepted`, () => {
    const { queue } = setUp();
    queue.add("a", {});
    queue.add("b", { priority: undefined, other: undefined } as never);
    queue.add("c", { [Symbol("mine")]: 1 } as never);
    assertEquals(takeAll(queue), ["a", "b", "c"]);
  });

  Deno.test(`rule 12, ${name}: a lease reports adds since its item was handed out, up to now`, () => {
    const { queue } = setUp();
    queue.add("a");
    const stale = take(queue);
    assertFalse(stale.addedAgain());
    const { addedAgain } = stale;
    queue.add("a");
    assertEquals([stale.addedAgain(), addedAgain()], [true, true], "also without its lease");
    stale[Symbol.dispose]();
    assertFalse(stale.addedAgain(), "it was given back");
    const lease = take(queue);
    assertFalse(lease.addedAgain());
    queue.addAfter("a", 10);
    assertFalse(lease.addedAgain(), "it is delayed, so it was not added yet");
    queue.addAfter("a", 0);
    assertEquals([lease.addedAgain(), stale.addedAgain()], [true, false], "the add was during the second pass");
    queue.done("a");
    take(queue);
    assertEquals([lease.addedAgain(), stale.addedAgain()], [false, false]);
    queue.add("a");
    assertEquals([lease.addedAgain(), stale.addedAgain()], [false, false]);
  });
}

Deno.test("rule 12: of several adds of a processing item, the highest priority counts, even if all are negative", () => {
  for (const discipline of [undefined, createPriorityDiscipline<string>()]) {
    for (
      const [adds, expected] of [[[-5], -5], [[-5, -7], -5], [[-7, -5], -5], [[3, 5, 4], 5], [[-5, 0], 0]] as const
    ) {
      const queue = createWorkQueue<string>({ discipline, clock: new HandClock() });
      queue.add("a", { priority: 9 });
      const lease = take(queue);
      for (const priority of adds) queue.add("a", { priority });
      lease[Symbol.dispose]();
      assertEquals(take(queue).priority, expected, `${discipline && "priority"} ${adds}`);
    }
  }
});

Deno.test("a first in, first out queue keeps its order, and passes priorities on to the code that takes the items", () => {
  const queue = createWorkQueue<string>();
  queue.add("a", { priority: -3 });
  queue.add("b", { priority: 5 });
  queue.add("a", { priority: -1 });
  const leases = [take(queue), take(queue)];
  assertEquals(leases.map(({ item, priority }) => [item, priority]), [["a", -1], ["b", 5]]);
  queue.add("a", { priority: 2 });
  assertEquals(queue.snapshot().processingItems.map(({ priority }) => priority), [-1, 5]);
  for (const lease of leases) lease[Symbol.dispose]();
  assertEquals(take(queue).priority, 2);
});

Deno.test("a discipline whose touch throws leaves the ready item and its priority as they were", () => {
  class Touchy extends Lifo<{ id: number; version: number }> {
    override touch(): void {
      throw new Error("do not touch");
    }
  }
  const queue = createWorkQueue({ discipline: new Touchy(), keyOf: ({ id }) => id });
  queue.add({ id: 1, version: 1 }, { priority: 2 });
  assertThrows(() => queue.add({ id: 1, version: 2 }, { priority: 3 }), Error, "do not touch");
  const { item, priority } = take(queue);
  assertEquals([item.version, priority], [1, 2]);
});

Deno.test("rule 12: readyAt is the time when the entry became ready, or of done after a re-add, and never decreases", async () => {
  const clock = new HandClock(100);
  const discipline = new Lifo<string>();
  const queue = createDelayingQueue({ discipline, clock });
  const readyAt = () => discipline.entries.at(-1)!.readyAt;
  queue.addAfter("delayed", 50);
  await clock.advance(60);
  assertEquals(readyAt(), 150);
  take(queue);
  queue.add("delayed");
  clock.time = 200;
  queue.done("delayed");
  assertEquals(readyAt(), 200);
  clock.time = 120; // the clock is set back
  queue.add("later");
  assertEquals(readyAt(), 200);
  clock.time = 201;
  queue.add("latest");
  assertEquals(readyAt(), 201);
});
