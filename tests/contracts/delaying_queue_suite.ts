/** Contract suite of `DelayingQueue`: rule 7 from a user's point of view. */

import { assert, assertEquals, assertFalse, assertGreater } from "@std/assert";
import { type Clock, type DelayingQueue, systemClock } from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { beBusy, isSettled, nextTurn, take, takeAll } from "../queue_helpers.ts";

/**
 * Function that creates a queue of the tested implementation. The queue uses `clock` and calls `onAdd` for each item
 * that becomes ready.
 */
export type MakeDelaying = (clock: Clock, onAdd?: () => void) => DelayingQueue<string>;

/** Registers the suite for one implementation. */
export function delayingQueueSuite(name: string, make: MakeDelaying): void {
  const test = (what: string, run: (queue: DelayingQueue<string>, clock: HandClock) => void | Promise<void>) =>
    Deno.test(`delaying queue, ${name}: ${what}`, () => {
      const clock = new HandClock();
      return run(make(clock), clock);
    });

  test("an item is ready when its delay has passed, and not before", async (queue, clock) => {
    queue.addAfter("a", 100);
    assertEquals([queue.length, queue.delayed], [0, 1]);
    await clock.advance(99);
    assertEquals([queue.length, queue.delayed], [0, 1]);
    await clock.advance(1);
    assertEquals([queue.length, queue.delayed], [1, 0]);
  });

  test("a delay can be a string", async (queue, clock) => {
    queue.addAfter("a", "1.5s");
    await clock.advance(1499);
    assertEquals(queue.length, 0);
    await clock.advance(1);
    assertEquals(queue.length, 1);
  });

  test("a delay of zero or less adds the item at once", (queue) => {
    queue.addAfter("a", 0);
    queue.addAfter("b", "-1s");
    assertEquals(takeAll(queue), ["a", "b"]);
  });

  test(
    "the earlier of two deadlines counts; equal ones come out in the order in which they were added",
    async (queue, clock) => {
      queue.addAfter("late", 50);
      queue.addAfter("b", 20);
      queue.addAfter("late", 10);
      queue.addAfter("c", 20);
      queue.addAfter("b", 40);
      assertEquals(queue.delayed, 3);
      await clock.advance(50);
      assertEquals(takeAll(queue), ["late", "b", "c"]);
      await clock.advance(100);
      assertEquals(queue.length, 0);
    },
  );

  test("a key that is delayed again and again beside others comes each time", async (queue, clock) => {
    for (let i = 0; i < 100; i++) queue.addAfter(`other ${i}`, 1_000_000);
    for (let round = 0; round < 200; round++) {
      queue.addAfter("hot", 5);
      await clock.advance(5);
      assertEquals(takeAll(queue), ["hot"]);
    }
    assertEquals(queue.delayed, 100);
    queue.shutDown();
  });

  test("a processing item that becomes due comes once it is done", async (queue, clock) => {
    queue.add("a");
    const lease = take(queue);
    queue.addAfter("a", 10);
    await clock.advance(10);
    assertEquals(queue.length, 0);
    lease[Symbol.dispose]();
    assertEquals(queue.length, 1);
  });

  test("there is one timer, however many items are delayed, and none after shutdown", async (queue, clock) => {
    for (let i = 0; i < 50; i++) queue.addAfter(`${i}`, 1000 - i);
    assertEquals(clock.timers, 1);
    queue.shutDown();
    assertEquals([clock.timers, queue.delayed], [0, 0]);
    queue.addAfter("late", 10);
    await clock.advance(10_000);
    assertEquals(queue.length, 0);
  });

  test("whenIdle and whenBelow count delayed items", async (queue, clock) => {
    queue.addAfter("a", 10);
    queue.addAfter("b", 20);
    const idle = queue.whenIdle();
    const below = queue.whenBelow(2);
    await clock.advance(10);
    assertFalse(await isSettled(Promise.race([idle, below])));
    const lease = take(queue);
    await below;
    queue.addAfter("a", 10);
    lease[Symbol.dispose]();
    await clock.advance(10);
    const leases = [take(queue), take(queue)];
    assertFalse(await isSettled(idle));
    for (const each of leases) each[Symbol.dispose]();
    await idle;
  });

  test("whenIdle resolves when a shutdown drops delayed items", async (queue) => {
    queue.addAfter("a", 10);
    const idle = queue.whenIdle();
    assertFalse(await isSettled(idle));
    queue.shutDown();
    await idle;
  });

  test("whenBelow resolves when a drain begins", async (queue) => {
    queue.addAfter("a", 10);
    const below = queue.whenBelow(1);
    assertFalse(await isSettled(below));
    const drained = queue.shutDownWithDrain({ delayed: "wait" });
    await below;
    queue.shutDown();
    await drained;
  });

  test("a snapshot lists delayed items, the earliest first", async (queue, clock) => {
    for (const [item, delay] of [["a", 300], ["b", 100], ["c", 200], ["d", 200], ["a", 250]] as const) {
      queue.addAfter(item, delay);
    }
    await clock.advance(50);
    const dueInMs: [string, number][] = [["b", 50], ["c", 150], ["d", 150], ["a", 200]];
    const { delayed, delayedItems } = queue.snapshot();
    assertEquals(delayed, 4);
    assertEquals(delayedItems, dueInMs.map(([item, dueInMs]) => ({ item, priority: 0, dueInMs })));
    assertEquals(queue.snapshot({ limit: 2 }), { ...queue.snapshot(), delayedItems: delayedItems.slice(0, 2) });
    await clock.advance(200);
    assertEquals(takeAll(queue), ["b", "c", "d", "a"]);
  });

  test("in a snapshot, an overdue item is due now", (queue, clock) => {
    queue.addAfter("a", 10);
    clock.time += 1000; // no timer has fired
    assertEquals(queue.snapshot().delayedItems, [{ item: "a", priority: 0, dueInMs: 0 }]);
  });

  for (const how of ["become due", "are flushed"]) {
    Deno.test(`rule 7, delaying queue, ${name}: many items that ${how} at once are made ready in slices`, async () => {
      const queue = make(systemClock, () => beBusy(1));
      const count = 64;
      const delay = how === "become due" ? 5 : 3_600_000;
      for (let i = 0; i < count; i++) queue.addAfter(`${i}`, delay);
      if (how === "are flushed") void queue.shutDownWithDrain({ delayed: "flush" });
      const seen = new Set([queue.delayed]);
      for (; queue.delayed > 0; seen.add(queue.delayed)) await nextTurn();
      assertGreater(seen.size, 2, "there are turns of the event loop between");
      const { ready, readyItems } = queue.snapshot({ limit: 2 });
      assertEquals([ready, readyItems.map(({ item }) => item)], [count, ["0", "1"]]);
      queue.shutDown();
    });
  }

  test("cancelDelayed cancels delayed items, and nothing else", async (queue, clock) => {
    for (const item of ["ready", "processing", "both"]) queue.add(item);
    const leases = [take(queue), take(queue)];
    for (const item of ["processing", "delayed", "other"]) queue.addAfter(item, 10);
    assertEquals(["ready", "never", "delayed", "delayed", "processing"].map((item) => queue.cancelDelayed(item)), [
      false,
      false,
      true,
      false,
      true,
    ]);
    assertEquals([queue.delayed, queue.length, queue.processing], [1, 1, 2]);
    await clock.advance(10);
    for (const lease of leases) lease[Symbol.dispose]();
    assertEquals(takeAll(queue), ["both", "other"]);
    queue.addAfter("delayed", 10);
    await clock.advance(10);
    assertEquals(takeAll(queue), ["delayed"], "it can be delayed again");
  });

  test(
    "cancelDelayed of the last delayed item clears the timer, and whenIdle resolves",
    async (queue, clock) => {
      queue.addAfter("a", 10);
      queue.addAfter("b", 20);
      const idle = queue.whenIdle();
      assert(queue.cancelDelayed("b"));
      assertEquals(clock.timers, 1);
      assertFalse(await isSettled(idle));
      assert(queue.cancelDelayed("a"));
      assertEquals(clock.timers, 0);
      await idle;
    },
  );

  test("cancelDelayed ends a drain that waits only for that item", async (queue) => {
    queue.addAfter("a", 10);
    const drained = queue.shutDownWithDrain({ delayed: "wait" });
    assertFalse(await isSettled(drained));
    assert(queue.cancelDelayed("a"));
    await drained;
    assertFalse(queue.cancelDelayed("a"), "nothing is delayed after a shutdown");
  });
}
