/** What every `WorkQueue` must do, whoever made it: rules 1 to 6 as a user sees them. */

import { assert, assertEquals, assertFalse } from "@std/assert";
import type { WorkQueue } from "@workqueue/core";
import { isSettled, outcome, take, takeAll } from "../queue_helpers.ts";

/** Registers the suite for one implementation, which is first in, first out. */
export function workQueueSuite(name: string, make: () => WorkQueue<string>): void {
  const test = (what: string, run: (queue: WorkQueue<string>) => void | Promise<void>) =>
    Deno.test(`work queue, ${name}: ${what}`, () => run(make()));

  test("items are handed out in the order they were added, once each", (queue) => {
    for (const item of ["a", "b", "a", "c", "b"]) queue.add(item);
    assertEquals(queue.length, 3);
    assertEquals(takeAll(queue), ["a", "b", "c"]);
    assertEquals([queue.length, queue.tryGet()], [0, undefined]);
  });

  test("a held item that is added again comes once more, at the tail, when it is done", (queue) => {
    queue.add("a");
    const lease = take(queue);
    for (const item of ["b", "a", "a"]) queue.add(item);
    assertEquals(queue.length, 1);
    lease[Symbol.dispose]();
    assertEquals(takeAll(queue), ["b", "a"]);
  });

  test("items that come back again and again beside new ones keep their turns", (queue) => {
    for (const item of ["a", "b", "c"]) queue.add(item);
    const taken: string[] = [];
    for (let round = 0; round < 100; round++) {
      const lease = take(queue);
      taken.push(lease.item);
      if (round % 7 === 0) queue.add(`new ${round}`);
      if (lease.item.length === 1) queue.add(lease.item);
      lease[Symbol.dispose]();
    }
    const expected: string[] = [];
    const line = ["a", "b", "c"];
    for (let round = 0; round < 100; round++) {
      const item = line.shift()!;
      expected.push(item);
      if (round % 7 === 0) line.push(`new ${round}`);
      if (item.length === 1) line.push(item);
    }
    assertEquals(taken, expected);
  });

  test("done of an item that nobody holds is ignored", (queue) => {
    queue.add("a");
    queue.done("a");
    queue.done("b");
    assertEquals(takeAll(queue), ["a"]);
    queue.done("a");
    assertEquals(queue.length, 0);
  });

  test("disposing a lease twice, or after its item was handed out again, is ignored", (queue) => {
    queue.add("a");
    const stale = take(queue);
    stale[Symbol.dispose]();
    stale[Symbol.dispose]();
    queue.add("a");
    const current = take(queue);
    queue.add("a");
    stale[Symbol.dispose]();
    assertEquals(queue.length, 0, "it is still held");
    current[Symbol.dispose]();
    assertEquals(queue.length, 1);
  });

  test("calls of get are served in the order they came", async (queue) => {
    const waiting = [queue.get(), queue.get()];
    queue.add("a");
    queue.add("b");
    assertEquals(await Promise.all(waiting.map(outcome)), ["a", "b"]);
  });

  test("an aborted get rejects with the reason and loses no item", async (queue) => {
    const controller = new AbortController();
    const aborted = queue.get({ signal: controller.signal });
    controller.abort("enough");
    assertEquals(await aborted.catch((reason) => reason), "enough");
    queue.add("a");
    assertEquals(await outcome(queue.get()), "a");
    assertEquals(await queue.get({ signal: controller.signal }).catch((reason) => reason), "enough");
  });

  test("for await hands out items one by one, each done when the body moves on, and ends at shutdown", async (queue) => {
    for (const item of ["a", "b", "c"]) queue.add(item);
    const seen: string[] = [];
    for await (const item of queue) {
      seen.push(item);
      if (item === "a") queue.add("a");
      if (seen.length === 3) queue.shutDown();
    }
    assertEquals(seen, ["a", "b", "c", "a"]);
  });

  test("after shutDown adds are ignored, what is ready is handed out, and get gives Shutdown", async (queue) => {
    queue.add("a");
    const waiter = queue.get();
    queue.add("b");
    const late = queue.get().then(() => queue.get());
    assertFalse(queue.shuttingDown);
    queue.shutDown();
    queue.add("c");
    assert(queue.shuttingDown);
    assertEquals(await outcome(waiter), "a");
    assertEquals(await outcome(late), "shutdown");
  });

  test("a drain waits until nothing is ready and nothing is held", async (queue) => {
    queue.add("a");
    queue.add("b");
    const lease = take(queue);
    queue.add("a");
    const drained = queue.shutDownWithDrain();
    assertFalse(await isSettled(drained));
    lease[Symbol.dispose]();
    assertEquals(takeAll(queue), ["b", "a"]);
    await drained;
  });
}
