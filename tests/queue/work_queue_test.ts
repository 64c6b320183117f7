import { assert, assertEquals, assertFalse, assertRejects, assertStrictEquals, assertThrows } from "@std/assert";
import {
  adaptDiscipline,
  createDelayingQueue,
  createPriorityDiscipline,
  createWorkQueue,
  type QueueDiscipline,
  type ReadyEntry,
} from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { countListeners, flush, isSettled, Lifo, outcome, randomNumbers, take, takeAll } from "../queue_helpers.ts";

Deno.test("items are handed out in the order they were added", () => {
  const queue = createWorkQueue<number>();
  // More items than the ring's initial capacity. Some items are taken while others are added, so that the ring grows
  // and wraps around.
  const taken: number[] = [];
  for (let i = 0; i < 1000; i++) {
    queue.add(i);
    if (i % 3 === 0) taken.push(take(queue).item);
  }
  taken.push(...takeAll(queue));
  assertEquals(taken, Array.from({ length: 1000 }, (_, i) => i));
});

Deno.test("rule 1: adding a ready item again changes nothing", () => {
  const queue = createWorkQueue<string>();
  queue.add("a");
  queue.add("b");
  queue.add("a");
  assertEquals(queue.length, 2);
  assertEquals(takeAll(queue), ["a", "b"]);
});

Deno.test("rule 1: an item added while it is processing comes back once, at the tail, when it is done", () => {
  const queue = createWorkQueue<string>();
  queue.add("a");
  const lease = take(queue);
  queue.add("a");
  queue.add("b");
  queue.add("a");
  assertEquals(queue.length, 1);
  lease[Symbol.dispose]();
  assertEquals(queue.length, 2);
  assertEquals(takeAll(queue), ["b", "a"]);
  assertEquals(queue.length, 0);
});

Deno.test("rule 1: an item can be added again once it is done", () => {
  const queue = createWorkQueue<string>();
  for (let pass = 0; pass < 3; pass++) {
    queue.add("a");
    assertEquals(takeAll(queue), ["a"]);
  }
});

Deno.test("rule 1: touch is called for a ready item only", () => {
  const touched: string[] = [];
  class Touching extends Lifo<string> {
    override touch({ item }: ReadyEntry<string>): void {
      touched.push(item);
    }
  }
  const queue = createWorkQueue<string>({ discipline: new Touching() });
  queue.add("a");
  assertEquals(touched, []);
  queue.add("a");
  assertEquals(touched, ["a"]);
  take(queue);
  queue.add("a");
  queue.add("a");
  assertEquals(touched, ["a"]);
});

Deno.test("rule 2: a key that is processing is not handed out, by any way of taking", async () => {
  const queue = createWorkQueue<string>();
  const iterator = queue[Symbol.asyncIterator]();
  const ways = [
    () => Promise.resolve(take(queue).item),
    async () => (await queue.get()).item,
    async () => (await iterator.next()).value,
  ];
  for (const way of ways) {
    queue.add("a");
    assertEquals(await way(), "a");
    queue.add("a");
    assertEquals(queue.tryGet(), undefined);
    const waiting = queue.get();
    assertFalse(await isSettled(waiting));
    queue.done("a");
    assertEquals(await outcome(waiting), "a");
    queue.done("a");
  }
});

Deno.test("rule 2: random mixes of add, take and done never give a key to two holders, nor lose one", () => {
  const random = randomNumbers(42);
  const queue = createWorkQueue<number>();
  const processing = new Map<number, Disposable>();
  const added = new Set<number>(); // items that were added and have not been handed out since
  for (let step = 0; step < 20_000; step++) {
    const choice = random();
    if (choice < 0.5) {
      const item = Math.floor(random() * 20);
      queue.add(item);
      added.add(item);
    } else if (choice < 0.75) {
      const lease = queue.tryGet();
      assertEquals(lease === undefined, [...added].every((item) => processing.has(item)));
      if (lease === undefined) continue;
      assertFalse(processing.has(lease.item));
      assert(added.delete(lease.item));
      processing.set(lease.item, lease);
    } else {
      const item = [...processing.keys()][Math.floor(random() * processing.size)];
      if (item === undefined) continue;
      if (random() < 0.5) queue.done(item);
      else processing.get(item)![Symbol.dispose]();
      processing.delete(item);
    }
    assertEquals(queue.length, [...added].filter((item) => !processing.has(item)).length);
  }
});

Deno.test("rule 3: waiting calls of get are served in order", async () => {
  const queue = createWorkQueue<string>();
  const waiting = [queue.get(), queue.get(), queue.get()];
  for (const item of ["a", "b", "c"]) queue.add(item);
  assertEquals(await Promise.all(waiting.map(outcome)), ["a", "b", "c"]);
  assertEquals(queue.length, 0);
});

Deno.test("rule 3: an aborted get rejects with the signal's reason, and the next one in line gets the item", async () => {
  const queue = createWorkQueue<string>();
  const reason = new Error("enough");
  const aborted = new AbortController();
  const first = queue.get();
  const second = queue.get({ signal: aborted.signal });
  const third = queue.get();
  aborted.abort(reason);
  assertStrictEquals(await assertRejects(() => second), reason);
  queue.add("a");
  queue.add("b");
  assertEquals(await outcome(first), "a");
  assertEquals(await outcome(third), "b");
});

Deno.test("rule 3: with a signal that has already aborted, get takes nothing", async () => {
  const queue = createWorkQueue<string>();
  queue.add("a");
  await assertRejects(() => queue.get({ signal: AbortSignal.abort(new Error("before")) }), Error, "before");
  assertEquals(queue.length, 1);
});

Deno.test("rule 3: a signal that aborts after the item was handed out changes nothing", async () => {
  const queue = createWorkQueue<string>();
  const controller = new AbortController();
  const waiting = queue.get({ signal: controller.signal });
  queue.add("a");
  controller.abort();
  assertEquals(await outcome(waiting), "a");
});

Deno.test("rule 3: a get that was served leaves no listener on its signal", async () => {
  const { signal } = new AbortController();
  const listeners = countListeners(signal);
  const queue = createWorkQueue<string>();
  for (const item of ["a", "b"]) {
    const waiting = queue.get({ signal });
    queue.add(item);
    await waiting;
  }
  const waiting = queue.get({ signal });
  queue.shutDown();
  await waiting;
  assertEquals(listeners(), 0);
});

Deno.test("rule 3: waiters aborted in any order leave the others in line", async () => {
  const queue = createWorkQueue<number>();
  const random = randomNumbers(7);
  const controllers = Array.from({ length: 500 }, () => new AbortController());
  const results = controllers.map(({ signal }) =>
    queue.get({ signal }).then((lease) => lease.item, () => "aborted" as const)
  );
  const stay = controllers.map(() => random() < 0.3);
  const leave = controllers.filter((_, i) => !stay[i]).sort(() => random() - 0.5);
  for (const controller of leave) controller.abort();
  const left = stay.filter(Boolean).length;
  for (let item = 0; item < left; item++) queue.add(item);
  let next = 0;
  assertEquals(await Promise.all(results), stay.map((stays) => stays ? next++ : "aborted"));
  assertEquals(queue.length, 0);
});

Deno.test("rule 4: done for an item that is not processing is ignored", () => {
  const queue = createWorkQueue<string>();
  queue.done("never added");
  queue.add("a");
  queue.done("a"); // ready, not processing
  assertEquals(queue.length, 1);
  const lease = take(queue);
  queue.add("a");
  queue.done("a");
  queue.done("a"); // ready again
  assertEquals(queue.length, 1);
  lease[Symbol.dispose]();
  assertEquals(takeAll(queue), ["a"]);
});

Deno.test("rule 4: a lease disposed twice, or after its key was handed out again, ends no other holder's work", () => {
  const queue = createWorkQueue<string>();
  queue.add("a");
  const first = take(queue);
  queue.add("a");
  queue.done("a");
  const second = take(queue);
  first[Symbol.dispose](); // stale: `done` has ended this lease
  queue.add("a");
  assertEquals(queue.length, 0, "the second holder still has it");
  second[Symbol.dispose]();
  assertEquals(queue.length, 1);
  second[Symbol.dispose]();
  first[Symbol.dispose]();
  assertEquals(queue.length, 1);
  assertEquals(takeAll(queue), ["a"]);
});

Deno.test("rule 4: a lease that was disposed stays harmless when the key comes back later", () => {
  const queue = createWorkQueue<string>();
  queue.add("a");
  const stale = take(queue);
  stale[Symbol.dispose]();
  queue.add("a");
  take(queue);
  stale[Symbol.dispose]();
  queue.add("a");
  assertEquals(queue.tryGet(), undefined);
});

Deno.test("leases work with using", async () => {
  const queue = createWorkQueue<string>();
  queue.add("a");
  {
    using lease = await queue.get();
    assertEquals([lease.item, lease.shutdown], ["a", false]);
    queue.add("a");
    assertEquals(queue.length, 0);
  }
  assertEquals(queue.length, 1);
});

Deno.test("rule 5: for await marks each item done when the body moves on, and ends at shutdown", async () => {
  const queue = createWorkQueue<string>();
  queue.add("a");
  queue.add("b");
  const seen: string[] = [];
  for await (const item of queue) {
    if (seen.length === 0) queue.add("a"); // "a" is added again while it is processing, so it comes after "b"
    seen.push(item);
    if (seen.length === 3) queue.shutDown();
  }
  assertEquals(seen, ["a", "b", "a"]);
  queue.done("a");
  assert(await isSettled(queue.shutDownWithDrain()), "nothing is processing");
});

Deno.test("rule 5: for await marks the item done when the body breaks or throws", async () => {
  const queue = createWorkQueue<string>();
  for (const leave of ["break", "throw"]) {
    queue.add("a");
    try {
      for await (const _ of queue) {
        queue.add("a");
        if (leave === "break") break;
        throw new Error("from the body");
      }
    } catch { /* thrown above */ }
    assertEquals(takeAll(queue), ["a"], leave);
  }
});

Deno.test("rule 6: after shutDown, adds are ignored, ready items are handed out, and then get reports the shutdown", async () => {
  const queue = createWorkQueue<string>();
  queue.add("a");
  queue.add("b");
  assertFalse(queue.shuttingDown);
  queue.shutDown();
  assert(queue.shuttingDown);
  queue.add("c");
  assertEquals(await outcome(queue.get()), "a");
  queue.add("a"); // ignored, even though "a" is processing
  queue.done("a");
  assertEquals(take(queue).item, "b");
  assertEquals(queue.tryGet(), undefined);
  {
    using shutdown = await queue.get();
    assertEquals([shutdown.shutdown, shutdown.item], [true, undefined]);
  }
  assertEquals(await outcome(queue.get()), "shutdown", "again and again");
});

Deno.test("rule 6: an item added again before shutDown is still handed out after it", async () => {
  const queue = createWorkQueue<string>();
  queue.add("a");
  const lease = take(queue);
  queue.add("a");
  queue.shutDown();
  lease[Symbol.dispose]();
  assertEquals(await outcome(queue.get()), "a");
});

Deno.test("rule 6: shutDown ends every waiting get, also with signals, and disposing a queue shuts it down", async () => {
  const controller = new AbortController();
  let waiting;
  {
    using queue = createWorkQueue<string>();
    waiting = [queue.get(), queue.get({ signal: controller.signal }), queue.get()];
  }
  assertEquals(await Promise.all(waiting.map(outcome)), ["shutdown", "shutdown", "shutdown"]);
  controller.abort(); // nothing is left to reject
});

Deno.test("rule 6: shutDownWithDrain waits for ready, processed and re-added items", async () => {
  const queue = createWorkQueue<string>();
  queue.add("a");
  queue.add("b");
  const a = take(queue);
  queue.add("a");
  const drained = queue.shutDownWithDrain();
  assert(queue.shuttingDown);
  assertFalse(await isSettled(drained), "a is processing, b is ready");
  const b = take(queue);
  assertFalse(await isSettled(drained), "both are processing");
  b[Symbol.dispose]();
  assertFalse(await isSettled(drained), "a is processing and was added again");
  a[Symbol.dispose]();
  assertFalse(await isSettled(drained), "a is ready: client-go would have returned");
  const again = take(queue);
  assertFalse(await isSettled(drained));
  again[Symbol.dispose]();
  assert(await isSettled(drained));
});

Deno.test("rule 6: shutDownWithDrain of an empty queue resolves, also after shutDown and more than once", async () => {
  const queue = createWorkQueue<string>();
  await queue.shutDownWithDrain();
  queue.shutDown();
  await queue.shutDownWithDrain();
  await Promise.all([queue.shutDownWithDrain(), queue.shutDownWithDrain()]);
});

Deno.test("rule 6: a drain after shutDown still waits, and several drains end together", async () => {
  const queue = createWorkQueue<string>();
  queue.add("a");
  const lease = take(queue);
  queue.shutDown();
  const drains = [queue.shutDownWithDrain(), queue.shutDownWithDrain()];
  for (const drain of drains) assertFalse(await isSettled(drain));
  lease[Symbol.dispose]();
  await Promise.all(drains);
});

Deno.test("rule 6: a later shutDown ends the wait of a drain", async () => {
  const queue = createWorkQueue<string>();
  queue.add("a");
  take(queue);
  const drained = queue.shutDownWithDrain();
  assertFalse(await isSettled(drained));
  queue.shutDown();
  assert(await isSettled(drained));
});

Deno.test("rule 6: get and drain end together, with aborts in between", async () => {
  const queue = createWorkQueue<string>();
  const controller = new AbortController();
  queue.add("a");
  const lease = take(queue);
  const aborted = assertRejects(() => queue.get({ signal: controller.signal }), DOMException);
  const waiting = queue.get();
  controller.abort();
  const drained = queue.shutDownWithDrain();
  await aborted;
  assertEquals(await outcome(waiting), "shutdown");
  assertFalse(await isSettled(drained));
  lease[Symbol.dispose]();
  await drained;
});

Deno.test("rule 8: keyOf makes items with one key the same item, and the newest is handed out", () => {
  const queue = createWorkQueue<{ id: number; version: number }>({ keyOf: ({ id }) => id });
  queue.add({ id: 1, version: 1 });
  queue.add({ id: 2, version: 1 });
  queue.add({ id: 1, version: 2 });
  assertEquals(queue.length, 2);
  const lease = take(queue);
  assertEquals(lease.item, { id: 1, version: 2 }, "at the place of the first");
  queue.add({ id: 1, version: 3 });
  queue.add({ id: 1, version: 4 });
  assertEquals(lease.item.version, 2, "what is being worked on does not change");
  queue.done({ id: 1, version: 99 }); // matched by key
  assertEquals(takeAll(queue).map(({ version }) => version), [1, 4]);
});

Deno.test("rule 8: without keyOf objects are compared by identity", () => {
  const queue = createWorkQueue<{ id: number }>();
  const one = { id: 1 };
  queue.add(one);
  queue.add(one);
  queue.add({ id: 1 });
  assertEquals(queue.length, 2);
});

Deno.test("rule 8: any value can be an item", async () => {
  const symbol = Symbol();
  const values = [undefined, null, NaN, 0, "", false, symbol, () => {}, Object.freeze({})];
  const queue = createWorkQueue<unknown>();
  for (const value of [...values, ...values]) queue.add(value);
  assertEquals(queue.length, values.length);
  for (const value of values) {
    const lease = await queue.get();
    assert(Object.is(lease.item, value));
    assertFalse(lease.shutdown);
    queue.done(value);
  }
  assert(await isSettled(queue.shutDownWithDrain()));
});

Deno.test("a discipline decides which item is next, also for waiting calls", async () => {
  const queue = createWorkQueue<string>({ discipline: new Lifo() });
  for (const item of ["a", "b", "c"]) queue.add(item);
  assertEquals(queue.length, 3);
  const lease = take(queue);
  assertEquals(lease.item, "c");
  queue.add("c");
  queue.done("c");
  assertEquals(takeAll(queue), ["c", "b", "a"]);
  const waiting = queue.get();
  queue.add("d");
  assertEquals(await outcome(waiting), "d");
});

Deno.test("a discipline with priorities is told of items that are added again", () => {
  class Urgent implements QueueDiscipline<string> {
    #urgency = new Map<ReadyEntry<string>, number>();
    push(entry: ReadyEntry<string>): void {
      this.#urgency.set(entry, 0);
    }
    touch(entry: ReadyEntry<string>): void {
      this.#urgency.set(entry, this.#urgency.get(entry)! + 1);
    }
    pop(): ReadyEntry<string> | undefined {
      const [entry] = [...this.#urgency].sort((a, b) => b[1] - a[1])[0] ?? [];
      this.#urgency.delete(entry!);
      return entry;
    }
    get length(): number {
      return this.#urgency.size;
    }
  }
  const queue = createWorkQueue<string>({ discipline: adaptDiscipline(new Urgent()) });
  for (const item of ["a", "b", "c", "b", "c", "c"]) queue.add(item);
  assertEquals(takeAll(queue), ["c", "b", "a"]);
});

Deno.test("rule 1: an item that a discipline leaves to the end is ready, however many go before it", () => {
  const queue = createWorkQueue<string>({ discipline: new Lifo() });
  queue.add("last");
  for (let i = 0; i < 1000; i++) {
    queue.add(`${i}`);
    take(queue)[Symbol.dispose]();
  }
  queue.add("last");
  assertEquals([queue.length, queue.processing, takeAll(queue)], [1, 0, ["last"]]);
});

Deno.test("a discipline gets one entry per key for as long as the key is ready; the entry has the newest item", () => {
  const discipline = new Lifo<{ id: number; version: number }>();
  const clock = new HandClock(7);
  const queue = createWorkQueue({ discipline, keyOf: ({ id }) => id, clock });
  queue.add({ id: 1, version: 1 });
  const [entry] = discipline.entries;
  clock.time = 9;
  queue.add({ id: 1, version: 2 });
  assertEquals(discipline.entries.length, 1);
  assertStrictEquals(discipline.entries[0], entry);
  const { key, item, priority, readyAt } = entry!;
  assertEquals({ key, item, priority, readyAt }, { key: 1, item: { id: 1, version: 2 }, priority: 0, readyAt: 7 });
  assertEquals(takeAll(queue), [{ id: 1, version: 2 }]);
});

Deno.test("a discipline that returns an item that is not ready gets an error that says so", async () => {
  const queue = createWorkQueue<string>({
    discipline: adaptDiscipline({
      push() {},
      pop: () => ({ key: "?", item: "?", priority: 0, readyAt: 0 }),
      touch() {},
      length: 1,
    }),
  });
  await assertRejects(async () => await queue.get(), Error, "the discipline returned no ready item");
});

Deno.test("two queues that share a discipline get an error that forbids it", () => {
  const discipline = createPriorityDiscipline();
  const queues = [createWorkQueue<string>({ discipline }), createWorkQueue<string>({ discipline })] as const;
  queues[0].add("a");
  const { message } = assertThrows(() => queues[1].add("b"), Error);
  assertEquals(message, "Cannot add item: another queue uses the discipline: each queue needs its own");
  assertEquals([queues[1].tryGet(), queues[0].tryGet()?.item], [undefined, "a"]);
});

Deno.test("options with invalid values are refused", () => {
  assertThrows(
    () => createWorkQueue({ keyOf: "id" as never }),
    TypeError,
    "Cannot create work queue: 'keyOf' must be a function, got",
  );
  for (const discipline of [{}, { push() {} }, null, "lifo"]) {
    assertThrows(
      () => createWorkQueue({ discipline: discipline as never }),
      TypeError,
      "Cannot create work queue: 'discipline' must be a discipline",
    );
  }
});

Deno.test("rule 5: calls of an iterator take turns, and return ends it", async () => {
  const queue = createWorkQueue<string>();
  for (const item of ["a", "b", "c"]) queue.add(item);
  const iterator = queue[Symbol.asyncIterator]();
  const calls = await Promise.all([iterator.next(), iterator.next(), iterator.return!(), iterator.next()]);
  assertEquals(calls, [
    { done: false, value: "a" },
    { done: false, value: "b" },
    { done: true, value: undefined },
    { done: true, value: undefined },
  ]);
  queue.shutDown();
  assertEquals(takeAll(queue), ["c"]);
  assert(await isSettled(queue.shutDownWithDrain()), "nothing is processing");
});

Deno.test("a queue has the name it was given, or none", () => {
  assertEquals(createWorkQueue().name, "");
  assertEquals(createWorkQueue({ name: "images" }).name, "images");
  assertEquals(createDelayingQueue({ name: "images" }).name, "images");
});

Deno.test("many consumers share the work, each item once", async () => {
  const queue = createWorkQueue<number>();
  const seen: number[] = [];
  async function consume(): Promise<void> {
    for await (const item of queue) {
      seen.push(item);
      await flush();
    }
  }
  const consumers = [consume(), consume(), consume()];
  for (let item = 0; item < 100; item++) queue.add(item);
  await queue.shutDownWithDrain();
  await Promise.all(consumers);
  assertEquals(seen.toSorted((a, b) => a - b), Array.from({ length: 100 }, (_, i) => i));
});
