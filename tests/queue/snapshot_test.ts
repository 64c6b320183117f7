/** Tests of `snapshot`: the contents and the cost of a snapshot, and that taking one changes nothing. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import * as fc from "fast-check";
import {
  createDefaultItemLimiter,
  createDelayingQueue,
  createFairDiscipline,
  createRateLimitingQueue,
  createWorkQueue,
  type Lease,
  type QueueDiscipline,
  type WorkQueue,
} from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { HighestFirst, Lifo, take, takeAll } from "../queue_helpers.ts";

const layers: Record<string, () => WorkQueue<string>> = {
  "layer 1": () => createWorkQueue(),
  "layer 1 with a discipline": () => createWorkQueue({ discipline: new HighestFirst() }),
  "layer 2": () => createDelayingQueue(),
  "layer 3": () => createRateLimitingQueue(createDefaultItemLimiter()),
};

for (const [name, make] of Object.entries(layers)) {
  Deno.test(`rule 10, ${name}: a snapshot refuses values that are not options`, () => {
    const queue = make();
    const cases: [options: unknown, ErrorClass: ErrorConstructor, message: string][] = [
      [10, TypeError, "'options' must be an object, got 10"],
      [null, TypeError, "'options' must be an object, got null"],
      [{ limt: 10 }, TypeError, `"limt" is not an option here; did you mean "limit"?`],
      [{ limit: -1 }, RangeError, "'limit' must be a non-negative integer, got -1"],
      [{ limit: 1.5 }, RangeError, "'limit' must be a non-negative integer, got 1.5"],
      [{ limit: Infinity }, RangeError, "'limit' must be a non-negative integer, got Infinity"],
      [{ limit: "10" }, TypeError, `'limit' must be a non-negative integer, got "10"`],
    ];
    for (const [options, ErrorClass, message] of cases) {
      const error = assertThrows(() => queue.snapshot(options as never), ErrorClass);
      assertEquals(error.message, `Cannot make snapshot: ${message}`);
    }
    assertEquals(queue.snapshot({ limit: undefined }), queue.snapshot());
  });
}

Deno.test("a queue's snapshot has the name of the queue", () => {
  const queue = createRateLimitingQueue(createDefaultItemLimiter(), { name: "q" });
  assertEquals(queue.snapshot().name, "q");
});

Deno.test("rule 8: a snapshot shows the newest item of each key, and the handed-out item of a processing key", () => {
  const clock = new HandClock();
  const queue = createDelayingQueue<{ id: number; version: number }>({ keyOf: ({ id }) => id, clock });
  for (const id of [1, 2]) queue.add({ id, version: 1 });
  take(queue);
  for (const id of [1, 2]) queue.add({ id, version: 2 });
  for (const version of [1, 2]) queue.addAfter({ id: 3, version }, 10);
  const { readyItems, delayedItems, processingItems } = queue.snapshot();
  assertEquals(readyItems, [{ item: { id: 2, version: 2 }, priority: 0 }]);
  assertEquals(delayedItems, [{ item: { id: 3, version: 2 }, priority: 0, dueInMs: 10 }]);
  assertEquals(processingItems, [{ item: { id: 1, version: 1 }, priority: 0, addedAgain: true }]);
});

Deno.test("falsy and undefined items are shown as they are", () => {
  for (const keyOf of [undefined, (item: unknown) => `key of ${item}`]) {
    const queue = createDelayingQueue<unknown>({ keyOf, clock: new HandClock() });
    const items = [0, "", false, null, undefined];
    for (const item of items) {
      queue.add(item);
      queue.addAfter(item, 10);
    }
    const shown = (list: { item: unknown }[]) => list.map(({ item }) => item);
    assertEquals(shown(queue.snapshot().readyItems), items);
    assertEquals(shown(queue.snapshot().delayedItems), items);
    for (const _ of items) take(queue);
    assertEquals(shown(queue.snapshot().processingItems), items);
  }
});

Deno.test("ready items are shown in the order in which they will be handed out, including items that came back", () => {
  const queue = createWorkQueue<number>();
  const names = (limit: number) => queue.snapshot({ limit }).readyItems.map(({ item }) => item);
  for (let i = 0; i < 100; i++) queue.add(i); // in a map this large, a key that is added again keeps its place
  for (let i = 0; i < 50; i++) {
    const lease = take(queue);
    if (i % 3 === 0) queue.add(lease.item);
    if (i % 5 === 0) queue.add(1000 + i);
    lease[Symbol.dispose]();
    if (i % 7 === 0) queue.add(lease.item);
  }
  const [first, all] = [names(20), names(1000)];
  assertEquals(all.length, queue.length);
  assertEquals(first, all.slice(0, 20));
  assertEquals(takeAll(queue), all);
});

Deno.test("a discipline that can peek is asked for at most as many items as the limit", () => {
  class Peeked extends HighestFirst<string> {
    readonly limits: number[] = [];
    override peek(limit: number) {
      this.limits.push(limit);
      return super.peek(limit);
    }
  }
  const discipline = new Peeked();
  const queue = createWorkQueue({ discipline });
  queue.add("low", { priority: -1 });
  queue.add("middle");
  queue.add("high", { priority: 1 });
  assertEquals(queue.snapshot({ limit: 2 }).readyItems, [
    { item: "high", priority: 1 },
    { item: "middle", priority: 0 },
  ]);
  assertEquals(queue.snapshot().readyItems.length, 3);
  assertEquals(discipline.limits, [2, 3]);
});

Deno.test("with a discipline that can't peek, the ready items are shown in some order", () => {
  const queue = createWorkQueue<number>({ discipline: new Lifo() });
  const ready = Array.from({ length: 40 }, (_, item) => ({ item, priority: item }));
  for (const item of [50, 51]) queue.add(item);
  for (let processing = 0; processing < 2; processing++) take(queue);
  for (const { item, priority } of ready) queue.add(item, { priority });
  const { readyItems } = queue.snapshot();
  assertEquals(readyItems.toSorted((a, b) => a.item - b.item), ready);
  assertEquals(queue.snapshot({ limit: 7 }).readyItems.length, 7);
});

Deno.test("items that a discipline's peek omits are shown behind the others, in some order, and none twice", () => {
  const within: QueueDiscipline<string>[] = [new HighestFirst(), new Lifo(), new HighestFirst()];
  const discipline = createFairDiscipline<string>({ groupOf: (key) => key[0], within: () => within.shift()! });
  const queue = createWorkQueue<string>({ discipline });
  for (const key of ["a1", "b1", "b2", "c1", "c2", "a2"]) queue.add(key);
  assertEquals(take(queue).item, "a1");
  const shown = (limit: number) => queue.snapshot({ limit }).readyItems.map(({ item }) => item);
  assertEquals(discipline.peek!(10), []);
  assertEquals(shown(10).toSorted(), ["a2", "b1", "b2", "c1", "c2"]);
  assertEquals(shown(3).length, 3);
  assertEquals(take(queue).item, "b2");
  assertEquals(shown(10).slice(0, 2), ["c1", "a2"]);
  assertEquals(shown(10).toSorted(), ["a2", "b1", "c1", "c2"]);
  assertEquals([shown(3).slice(0, 2), new Set(shown(3)).size], [["c1", "a2"], 3]);
});

/** Returns the number of map entries that `action` reads, by key or by iteration. */
function countMapReads(action: () => void): number {
  let reads = 0;
  const iterators = Object.getPrototypeOf(new Map().entries());
  const { get } = Map.prototype;
  const { next } = iterators;
  Map.prototype.get = function (key) {
    reads++;
    return get.call(this, key);
  };
  iterators.next = function () {
    reads++;
    return next.call(this);
  };
  try {
    action();
  } finally {
    Map.prototype.get = get;
    iterators.next = next;
  }
  return reads;
}

Deno.test("a snapshot of 300,000 items reads only those that it shows", () => {
  const keyOf = (item: number) => -item;
  const queue = createDelayingQueue<number>({ keyOf, clock: new HandClock() });
  for (let i = 0; i < 200_000; i++) queue.add(i);
  for (let i = 0; i < 50_000; i++) take(queue);
  for (let i = 0; i < 300_000; i++) queue.addAfter(i, 1 + (i * 7919) % 300_000);
  const shown = queue.snapshot({ limit: 10 });
  assertEquals([shown.ready, shown.processing, shown.delayed], [150_000, 50_000, 300_000]);
  assertEquals(shown.delayedItems.map(({ dueInMs }) => dueInMs), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  assert(countMapReads(() => queue.snapshot({ limit: 10 })) <= 200);
  assert(countMapReads(() => queue.snapshot({ limit: 0 })) <= 5);
});

Deno.test("processing items are found without reading all ready items, even if most came back", () => {
  const queue = createWorkQueue<number>();
  for (let i = 0; i < 100_000; i++) queue.add(i);
  const comeBack = (count: number) => {
    for (let i = 0; i < count; i++) {
      const lease = take(queue);
      queue.add(lease.item);
      lease[Symbol.dispose]();
    }
  };
  comeBack(30_000);
  const first = take(queue);
  const processingItems = () => queue.snapshot({ limit: 10 }).processingItems.map(({ item }) => item);
  assertEquals(processingItems(), [30_000]);
  comeBack(40_000);
  const second = take(queue);
  assertEquals(processingItems(), [30_000, 70_001]);
  assert(countMapReads(processingItems) <= 200);
  first[Symbol.dispose]();
  queue.add(70_001);
  second[Symbol.dispose]();
  assertEquals(processingItems(), []);
});

Deno.test("a snapshot without lists does not call the discipline", () => {
  const discipline: QueueDiscipline<string> = new HighestFirst();
  const queue = createWorkQueue({ discipline });
  queue.add("a");
  const { readyItems, processingItems, ready } = queue.snapshot({ limit: 0 });
  assertEquals([readyItems, processingItems, ready], [[], [], 1]);
});

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("add" as const), key: fc.nat(60) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("addMany" as const), key: fc.nat(60) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("take" as const), key: fc.nat(60) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("done" as const), key: fc.nat(60) }) },
);

/**
 * Runs the steps, then takes all ready items. Calls `look` before each step and before each item that is handed out.
 * Returns the items that were handed out.
 */
function run(
  steps: readonly { do: string; key: number }[],
  look: (queue: WorkQueue<number>, handedOut: number) => void,
): number[] {
  const queue = createWorkQueue<number>();
  const leases: Lease<number>[] = [];
  const handedOut: number[] = [];
  const takeOne = () => {
    const lease = queue.tryGet();
    if (lease === undefined) return;
    handedOut.push(lease.item);
    leases.push(lease);
  };
  for (const { do: what, key } of steps) {
    look(queue, handedOut.length);
    if (what === "add") queue.add(key);
    else if (what === "addMany") { for (let i = 0; i < 20; i++) queue.add((key + i) % 61); }
    else if (what === "take") takeOne();
    else leases.splice(key % (leases.length + 1), 1)[0]?.[Symbol.dispose]();
  }
  while (queue.length > 0) {
    look(queue, handedOut.length);
    takeOne();
  }
  return handedOut;
}

Deno.test("a snapshot changes nothing, and items shown as ready are handed out next, whatever happens", () => {
  const property = fc.property(
    fc.array(step, { maxLength: 300, size: "max" }),
    fc.array(fc.integer({ min: 0, max: 70 }), { minLength: 1, maxLength: 5 }),
    (steps, limits) => {
      const looks: { at: number; shown: number[] }[] = [];
      const handedOut = run(steps, (queue, at) => {
        const limit = limits[looks.length % limits.length]!;
        const { readyItems, ready, processingItems, processing } = queue.snapshot({ limit });
        looks.push({ at, shown: readyItems.map(({ item }) => item) });
        assertEquals([readyItems.length, processingItems.length], [
          Math.min(ready, limit),
          Math.min(processing, limit),
        ]);
      });
      assertEquals(handedOut, run(steps, () => {}));
      for (const { at, shown } of looks) assertEquals(handedOut.slice(at, at + shown.length), shown);
    },
  );
  fc.assert(property, { numRuns: 300 });
});
