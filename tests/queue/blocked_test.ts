/** Rule 13 in the queue: disciplines that block entries until other entries are done. */

import { assertEquals, assertFalse, assertThrows } from "@std/assert";
import {
  createDefaultItemLimiter,
  createDelayingQueue,
  createRateLimitingQueue,
  createWorkQueue,
  InMemoryMetrics,
  type WorkQueue,
} from "@workqueue/core";
import { isSettled, OneOfAGroup, outcome, take, takeAll } from "../queue_helpers.ts";

const layers: Record<string, (discipline: OneOfAGroup) => WorkQueue<string>> = {
  "layer 1": (discipline) => createWorkQueue({ discipline }),
  "layer 1 with keyOf": (discipline) => createWorkQueue({ discipline, keyOf: (item) => item.toUpperCase() }),
  "layer 2": (discipline) => createDelayingQueue({ discipline }),
  "layer 3": (discipline) => createRateLimitingQueue(createDefaultItemLimiter(), { discipline }),
};

for (const [name, make] of Object.entries(layers)) {
  const setUp = (...items: string[]) => {
    const discipline = new OneOfAGroup();
    const queue = make(discipline);
    for (const item of items) queue.add(item);
    discipline.calls.length = 0;
    return { discipline, queue };
  };

  Deno.test(`${name}: blocked items do not count in length, but in the snapshot's count`, () => {
    const { queue } = setUp("a/1", "a/2", "a/3", "b/1");
    const counts = () => {
      const { ready, blocked, processing, readyItems } = queue.snapshot();
      assertEquals([queue.length, queue.processing], [ready, processing]);
      return [ready, blocked, processing, readyItems.map(({ item }) => item).join()];
    };
    assertEquals(counts(), [2, 2, 0, "a/1,b/1"]);
    const a1 = take(queue);
    assertEquals(counts(), [1, 2, 1, "b/1"]);
    take(queue);
    assertEquals(counts(), [0, 2, 2, ""]);
    assertEquals(queue.tryGet(), undefined);
    a1[Symbol.dispose]();
    assertEquals(counts(), [1, 1, 1, "a/2"]);
  });

  Deno.test(`${name}: done hands a blocked item to a waiting get`, async () => {
    const { queue } = setUp("a/1", "a/2");
    const lease = take(queue);
    const got = queue.get();
    assertFalse(await isSettled(got));
    lease[Symbol.dispose]();
    assertEquals(await outcome(got), "a/2");
  });

  Deno.test(`${name}: after shutDown, get waits while an item is blocked, returns it, and then reports the shutdown`, async () => {
    const { queue } = setUp("a/1", "a/2");
    const lease = take(queue);
    const gets = [queue.get(), queue.get()];
    queue.shutDown();
    gets.push(queue.get());
    assertFalse(await isSettled(Promise.race(gets)));
    lease[Symbol.dispose]();
    assertEquals(await Promise.all(gets.map(outcome)), ["a/2", "shutdown", "shutdown"]);
  });

  Deno.test(`${name}: a drain, whenIdle and whenBelow wait for blocked items`, async () => {
    for (const delayed of ["drop", "flush", "wait"] as const) {
      const { queue } = setUp("a/1", "a/2", "a/3");
      const below = queue.whenBelow(2);
      const lease = take(queue);
      assertFalse(await isSettled(below), "two are blocked");
      lease[Symbol.dispose]();
      take(queue);
      await below;
      const waits = [queue.whenIdle(), queue.shutDownWithDrain({ delayed })];
      queue.done("a/2");
      assertFalse(await isSettled(Promise.race(waits)), "one is ready");
      takeAll(queue);
      await Promise.all(waits);
    }
  });

  Deno.test(`${name}: the discipline is told once of the end of each attempt, before its item is pushed again`, () => {
    const { discipline, queue } = setUp("a/1", "a/2");
    const lease = take(queue);
    queue.add("a/1");
    queue.add("a/2");
    lease[Symbol.dispose]();
    lease[Symbol.dispose]();
    queue.done("a/1");
    assertEquals(discipline.calls, ["pop a/1", "touch a/2", "done a/1", "push a/1"]);
    discipline.calls.length = 0;
    takeAll(queue);
    assertEquals(discipline.calls, ["pop a/2", "done a/2", "pop a/1", "done a/1"]);
  });
}

Deno.test("an error in done is thrown to its caller, and waiting calls are served nevertheless", async () => {
  class Broken extends OneOfAGroup {
    override done(entry: Parameters<OneOfAGroup["done"]>[0]): void {
      super.done(entry);
      throw new Error("done is broken");
    }
  }
  const queue = createWorkQueue({ discipline: new Broken() });
  for (const item of ["a/1", "a/2"]) queue.add(item);
  take(queue);
  const got = queue.get();
  assertThrows(() => queue.done("a/1"), Error, "done is broken");
  assertEquals(await outcome(got), "a/2");
  assertEquals([queue.length, queue.processing], [0, 1]);
});

Deno.test("rule 11: an item that was added again and that the discipline refuses when it comes back is ready, and counted once", () => {
  const discipline = new OneOfAGroup();
  const metrics = new InMemoryMetrics();
  const queue = createWorkQueue<string>({ discipline, name: "q", metrics, priorityLevels: { usual: 0 } });
  queue.add("a");
  const lease = take(queue);
  queue.add("a");
  const { push } = discipline;
  discipline.push = () => {
    throw new Error("broken");
  };
  assertThrows(() => lease[Symbol.dispose](), Error, "broken");
  discipline.push = push;

  const depths = () => [
    metrics.value("workqueue_depth", "q"),
    metrics.value("workqueue_depth_by_priority", "q", "usual"),
  ];
  assertEquals([queue.length, queue.processing, ...depths()], [1, 0, 1, 1]);
  assertEquals(takeAll(queue), ["a"]);
  assertEquals([queue.length, queue.processing, ...depths()], [0, 0, 0, 0]);
  queue.add("a"); // the queue still works
  assertEquals(takeAll(queue), ["a"]);
});
