/** Contract suite of `WorkQueue`, built-in or third-party: rules 1 to 6 from a user's point of view. */

import { assert, assertEquals, assertFalse } from "@std/assert";
import type { WorkQueue } from "@workqueue/core";
import { isSettled, outcome, take, takeAll } from "../queue_helpers.ts";

/** Registers the suite for one implementation, which must hand out items first in, first out. */
export function workQueueSuite(name: string, make: () => WorkQueue<string>): void {
  const test = (what: string, run: (queue: WorkQueue<string>) => void | Promise<void>) =>
    Deno.test(`work queue, ${name}: ${what}`, () => run(make()));

  test("items are handed out in the order they were added, once each", (queue) => {
    for (const item of ["a", "b", "a", "c", "b"]) queue.add(item);
    assertEquals(queue.length, 3);
    assertEquals(takeAll(queue), ["a", "b", "c"]);
    assertEquals([queue.length, queue.tryGet()], [0, undefined]);
  });

  test("a processing item that is added again comes once more, at the tail, when it is done", (queue) => {
    queue.add("a");
    const lease = take(queue);
    for (const item of ["b", "a", "a"]) queue.add(item);
    assertEquals(queue.length, 1);
    lease[Symbol.dispose]();
    assertEquals(takeAll(queue), ["b", "a"]);
  });

  test("items that come back again and again keep their turns beside new ones", (queue) => {
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

  test("done of an item that is not processing is ignored", (queue) => {
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
    assertEquals(queue.length, 0, "it is still processing");
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

  test("after shutDown, adds are ignored, ready items are handed out, and then get reports the shutdown", async (queue) => {
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

  test("a drain waits until nothing is ready and nothing is processing", async (queue) => {
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

  test("processing counts the items that were handed out and are not done", (queue) => {
    for (const item of ["a", "b", "c"]) queue.add(item);
    const lease = take(queue);
    take(queue);
    assertEquals([queue.length, queue.processing], [1, 2]);
    queue.add("a");
    lease[Symbol.dispose]();
    assertEquals([queue.length, queue.processing], [2, 1]);
    queue.done("b");
    queue.done("b");
    assertEquals([queue.length, queue.processing], [2, 0]);
  });

  test("whenIdle waits until nothing is ready and nothing is processing", async (queue) => {
    await queue.whenIdle();
    queue.add("a");
    const idle = [queue.whenIdle(), queue.whenIdle({})];
    const lease = take(queue);
    queue.add("a");
    assertFalse(await isSettled(Promise.race(idle)), "it is processing");
    lease[Symbol.dispose]();
    assertFalse(await isSettled(Promise.race(idle)), "it is ready again");
    take(queue)[Symbol.dispose]();
    await Promise.all(idle);
  });

  test("whenIdle waits after a shutdown while there is work", async (queue) => {
    queue.add("a");
    const idle = queue.whenIdle();
    queue.shutDown();
    assertFalse(await isSettled(idle));
    take(queue)[Symbol.dispose]();
    await idle;
    await queue.whenIdle();
  });

  test("whenBelow waits until fewer items are ready, whatever is processing", async (queue) => {
    for (const item of ["a", "b", "c"]) queue.add(item);
    await queue.whenBelow(4);
    const below3 = queue.whenBelow(3);
    const below2 = queue.whenBelow(2);
    assertFalse(await isSettled(below3));
    take(queue);
    await below3;
    assertFalse(await isSettled(below2));
    take(queue);
    await below2;
  });

  test("whenBelow resolves when the queue is shut down", async (queue) => {
    for (const item of ["a", "b"]) queue.add(item);
    const below = queue.whenBelow(1);
    assertFalse(await isSettled(below));
    queue.shutDown();
    await below;
    await queue.whenBelow(1);
  });

  test("an aborted whenIdle or whenBelow rejects with the reason, and the others continue to wait", async (queue) => {
    queue.add("a");
    const controller = new AbortController();
    const { signal } = controller;
    const aborted = [queue.whenIdle({ signal }), queue.whenBelow(1, { signal })];
    const others = [queue.whenIdle(), queue.whenBelow(1)];
    assertFalse(await isSettled(Promise.race(aborted)));
    controller.abort("enough");
    for (const each of aborted) assertEquals(await each.catch((reason) => reason), "enough");
    for (const call of [() => queue.whenIdle({ signal }), () => queue.whenBelow(1, { signal })]) {
      assertEquals(await call().catch((reason) => reason), "enough");
    }
    assertFalse(await isSettled(Promise.race(others)));
    take(queue)[Symbol.dispose]();
    await Promise.all(others);
  });

  test("a snapshot counts and lists ready and processing items, and can be sent as JSON", (queue) => {
    for (const item of ["a", "b", "c", "d"]) queue.add(item);
    take(queue);
    take(queue);
    queue.add("b");
    const snapshot = queue.snapshot();
    assertEquals(snapshot, {
      name: queue.name,
      ready: 2,
      blocked: 0,
      delayed: 0,
      processing: 2,
      readyItems: [{ item: "c", priority: 0 }, { item: "d", priority: 0 }],
      delayedItems: [],
      processingItems: [{ item: "a", priority: 0, addedAgain: false }, { item: "b", priority: 0, addedAgain: true }],
    });
    assertEquals(JSON.parse(JSON.stringify(snapshot)), snapshot);
  });

  test("the limit of a snapshot applies to its lists, not to its counts", (queue) => {
    for (let i = 0; i < 240; i++) queue.add(`${i}`);
    for (let i = 0; i < 120; i++) take(queue);
    for (const [limit, listed] of [[undefined, 100], [0, 0], [1, 1], [119, 119], [1000, 120]] as const) {
      const { ready, processing, readyItems, processingItems } = queue.snapshot(limit === undefined ? {} : { limit });
      assertEquals([ready, processing, readyItems.length, processingItems.length], [120, 120, listed, listed]);
      assertEquals(readyItems.map(({ item }) => item), Array.from({ length: listed }, (_, i) => `${120 + i}`));
    }
  });

  test("a snapshot changes nothing, and later events do not change it", (queue) => {
    for (const item of ["a", "b", "c"]) queue.add(item);
    const snapshot = queue.snapshot();
    snapshot.readyItems.length = 0;
    assertEquals(queue.length, 3);
    const again = queue.snapshot();
    assertEquals(takeAll(queue), ["a", "b", "c"]);
    assertEquals(again.readyItems.map(({ item }) => item), ["a", "b", "c"]);
  });
}
