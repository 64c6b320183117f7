/** What every `DelayingQueue` must do: rule 7 as a user sees it. */

import { assert, assertEquals, assertFalse } from "@std/assert";
import type { Clock, DelayingQueue } from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { isSettled, take, takeAll } from "../queue_helpers.ts";

/** Registers the suite for one implementation, which takes time from a clock. */
export function delayingQueueSuite(name: string, make: (clock: Clock) => DelayingQueue<string>): void {
  const test = (what: string, run: (queue: DelayingQueue<string>, clock: HandClock) => void | Promise<void>) =>
    Deno.test(`delaying queue, ${name}: ${what}`, () => {
      const clock = new HandClock();
      return run(make(clock), clock);
    });

  test("an item is ready when its delay has passed, and not before", async (queue, clock) => {
    queue.addAfter("a", 100);
    assertEquals([queue.length, queue.waiting], [0, 1]);
    await clock.advance(99);
    assertEquals([queue.length, queue.waiting], [0, 1]);
    await clock.advance(1);
    assertEquals([queue.length, queue.waiting], [1, 0]);
  });

  test("a delay takes a text", async (queue, clock) => {
    queue.addAfter("a", "1.5s");
    await clock.advance(1499);
    assertEquals(queue.length, 0);
    await clock.advance(1);
    assertEquals(queue.length, 1);
  });

  test("a delay of zero or less adds now", (queue) => {
    queue.addAfter("a", 0);
    queue.addAfter("b", "-1s");
    assertEquals(takeAll(queue), ["a", "b"]);
  });

  test(
    "the earlier of two deadlines counts; equal ones come out in the order they were added",
    async (queue, clock) => {
      queue.addAfter("late", 50);
      queue.addAfter("b", 20);
      queue.addAfter("late", 10);
      queue.addAfter("c", 20);
      queue.addAfter("b", 40);
      assertEquals(queue.waiting, 3);
      await clock.advance(50);
      assertEquals(takeAll(queue), ["late", "b", "c"]);
      await clock.advance(100);
      assertEquals(queue.length, 0);
    },
  );

  test("one hot key that waits again and again beside others comes each time", async (queue, clock) => {
    for (let i = 0; i < 100; i++) queue.addAfter(`other ${i}`, 1_000_000);
    for (let round = 0; round < 200; round++) {
      queue.addAfter("hot", 5);
      await clock.advance(5);
      assertEquals(takeAll(queue), ["hot"]);
    }
    assertEquals(queue.waiting, 100);
    queue.shutDown();
  });

  test("a held item that becomes due comes once it is done", async (queue, clock) => {
    queue.add("a");
    const lease = take(queue);
    queue.addAfter("a", 10);
    await clock.advance(10);
    assertEquals(queue.length, 0);
    lease[Symbol.dispose]();
    assertEquals(queue.length, 1);
  });

  test("one timer, whatever waits, and none once it is shut down", async (queue, clock) => {
    for (let i = 0; i < 50; i++) queue.addAfter(`${i}`, 1000 - i);
    assertEquals(clock.timers, 1);
    queue.shutDown();
    assertEquals([clock.timers, queue.waiting], [0, 0]);
    queue.addAfter("late", 10);
    await clock.advance(10_000);
    assertEquals(queue.length, 0);
  });

  test("whenIdle and whenBelow count what waits", async (queue, clock) => {
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

  test("whenIdle goes on when a shutdown drops what waits", async (queue) => {
    queue.addAfter("a", 10);
    const idle = queue.whenIdle();
    assertFalse(await isSettled(idle));
    queue.shutDown();
    await idle;
  });

  test("whenBelow goes on when a drain begins", async (queue) => {
    queue.addAfter("a", 10);
    const below = queue.whenBelow(1);
    assertFalse(await isSettled(below));
    const drained = queue.shutDownWithDrain({ waiting: "wait" });
    await below;
    queue.shutDown();
    await drained;
  });

  test("a snapshot lists what waits, the earliest first", async (queue, clock) => {
    for (const [item, delay] of [["a", 300], ["b", 100], ["c", 200], ["d", 200], ["a", 250]] as const) {
      queue.addAfter(item, delay);
    }
    await clock.advance(50);
    const dueIn: [string, number][] = [["b", 50], ["c", 150], ["d", 150], ["a", 200]];
    const { waiting, waitingItems } = queue.snapshot();
    assertEquals(waiting, 4);
    assertEquals(waitingItems, dueIn.map(([item, dueIn]) => ({ item, priority: 0, dueIn })));
    assertEquals(queue.snapshot({ limit: 2 }), { ...queue.snapshot(), waitingItems: waitingItems.slice(0, 2) });
    await clock.advance(200);
    assertEquals(takeAll(queue), ["b", "c", "d", "a"]);
  });

  test("what is late is due now in a snapshot", (queue, clock) => {
    queue.addAfter("a", 10);
    clock.time += 1000; // and no timer has fired
    assertEquals(queue.snapshot().waitingItems, [{ item: "a", priority: 0, dueIn: 0 }]);
  });

  test("cancelAfter takes back what waits, and nothing else", async (queue, clock) => {
    for (const item of ["ready", "held", "both"]) queue.add(item);
    const leases = [take(queue), take(queue)];
    for (const item of ["held", "waits", "other"]) queue.addAfter(item, 10);
    assertEquals(["ready", "never", "waits", "waits", "held"].map((item) => queue.cancelAfter(item)), [
      false,
      false,
      true,
      false,
      true,
    ]);
    assertEquals([queue.waiting, queue.length, queue.held], [1, 1, 2]);
    await clock.advance(10);
    for (const lease of leases) lease[Symbol.dispose]();
    assertEquals(takeAll(queue), ["both", "other"]);
    queue.addAfter("waits", 10);
    await clock.advance(10);
    assertEquals(takeAll(queue), ["waits"], "it can wait again");
  });

  test(
    "cancelAfter of the last that waits clears the timer, and one who waits for idleness goes on",
    async (queue, clock) => {
      queue.addAfter("a", 10);
      queue.addAfter("b", 20);
      const idle = queue.whenIdle();
      assert(queue.cancelAfter("b"));
      assertEquals(clock.timers, 1);
      assertFalse(await isSettled(idle));
      assert(queue.cancelAfter("a"));
      assertEquals(clock.timers, 0);
      await idle;
    },
  );

  test("cancelAfter ends a drain that waits only for that item", async (queue) => {
    queue.addAfter("a", 10);
    const drained = queue.shutDownWithDrain({ waiting: "wait" });
    assertFalse(await isSettled(drained));
    assert(queue.cancelAfter("a"));
    await drained;
    assertFalse(queue.cancelAfter("a"), "nothing waits after a shutdown");
  });
}
