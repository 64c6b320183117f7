/** What every `DelayingQueue` must do: rule 7 as a user sees it. */

import { assertEquals } from "@std/assert";
import type { Clock, DelayingQueue } from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { take, takeAll } from "../queue_helpers.ts";

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
}
