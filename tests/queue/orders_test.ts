/**
 * Compares the orders of built-in disciplines with those of other disciplines: a queue must behave the same if its
 * discipline is wrapped, so that every key has an entry.
 */

import { assert, assertEquals, assertThrows } from "@std/assert";
import * as fc from "fast-check";
import process from "node:process";
import {
  adaptDiscipline,
  createExponentialLimiter,
  createFairDiscipline,
  createPriorityDiscipline,
  createRateLimitingQueue,
  createWorkQueue,
  type Lease,
  type QueueDiscipline,
  type ReadyEntry,
} from "@workqueue/core";
import { builtInDisciplines } from "../../docs/generate/built_ins.ts";
import { DisciplineOrder } from "../../lib/queue/discipline_order.ts";
import type { Batch } from "../../lib/queue/served_queue.ts";
import { POSITION, READY } from "../../lib/queue/positions.ts";
import { NONE, type Records } from "../../lib/structures/records.ts";
import { HandClock } from "../helpers.ts";
import { Lifo, orderOf, PlainLifo, take, takeAll } from "../queue_helpers.ts";

/** Number of runs of each test. Bugs planted in orders were found within 8 runs. */
const RUNS = Number(process.env["WORKQUEUE_RUNS"] ?? 40);

interface Item {
  readonly key: string;
  readonly version: number;
}

function keyOf({ key }: Item): string {
  return key;
}

/** Returns a discipline that does what `discipline` does, through its methods. */
function wrapped<T>(discipline: QueueDiscipline<T>): QueueDiscipline<T> {
  return adaptDiscipline<QueueDiscipline<T>>({
    push: (entry) => discipline.push(entry),
    pop: () => discipline.pop(),
    touch: (entry) => discipline.touch(entry),
    done: (entry, work) => discipline.done?.(entry, work),
    ...discipline.remove && { remove: (entry: ReadyEntry<T>) => discipline.remove!(entry) },
    peek: (limit) => discipline.peek!(limit),
    get length() {
      return discipline.length;
    },
    get blocked() {
      return discipline.blocked ?? 0;
    },
  });
}

/** Last in, first out; throws an error if it gets an item whose version is a multiple of 7. */
class Fussy extends PlainLifo<Item> {
  override push(entry: ReadyEntry<Item>) {
    if (entry.item.version % 7 === 0) throw new Error("a multiple of 7");
    super.push(entry);
  }

  peek(limit: number) {
    return this.entries.toReversed().slice(0, limit);
  }

  override touch(entry: ReadyEntry<Item>) {
    if (entry.item.version % 5 === 0) throw new Error("a multiple of 5");
  }
}

/** Highest priority first; tells what it was told. */
class Noting implements QueueDiscipline<Item> {
  entries: ReadyEntry<Item>[] = [];

  constructor(readonly notes: unknown[]) {}

  #note(what: string, { key, item, priority, readyAt }: ReadyEntry<Item>) {
    this.notes.push([what, key, item, priority, readyAt]);
  }

  push(entry: ReadyEntry<Item>) {
    this.#note("push", entry);
    this.entries.push(entry);
  }

  pop() {
    const next = this.entries.reduce((a, b) => b.priority > a.priority ? b : a);
    this.entries.splice(this.entries.indexOf(next), 1);
    this.#note("pop", next);
    return next;
  }

  touch(entry: ReadyEntry<Item>) {
    this.#note("touch", entry);
  }

  done(entry: ReadyEntry<Item>) {
    this.#note("done", entry);
  }

  peek(limit: number) {
    return this.entries.toSorted((a, b) => b.priority - a.priority).slice(0, limit);
  }

  get length() {
    return this.entries.length;
  }
}

const groupOf = ({ key, version }: Item) => {
  if (version % 11 === 0) throw new Error("a multiple of 11");
  return key[0];
};
const weights = { a: 2, b: 0.5 };

/** Disciplines, whether the order of their ready items is known, and the notes that their parts take. */
const disciplines: Record<string, (notes: unknown[]) => QueueDiscipline<Item>> = {
  "priority": () => createPriorityDiscipline({ min: -3, max: 3, maxHeadStart: 12 }),
  "priority without a head start": () => createPriorityDiscipline({ maxHeadStart: 0 }),
  "strict priority": () => createPriorityDiscipline({ min: -3, max: 3, maxHeadStart: Infinity }),
  "fair": () => createFairDiscipline({ groupOf, weights }),
  "fair, by time": () => createFairDiscipline({ groupOf, weights, by: "time" }),
  "fair, one at once": () => createFairDiscipline({ groupOf, weights, maxPerGroup: 1 }),
  "fair, with priorities inside": () =>
    createFairDiscipline({ groupOf, maxPerGroup: 2, within: () => createPriorityDiscipline({ maxHeadStart: 3000 }) }),
  "fair in fair": () =>
    createFairDiscipline({
      groupOf,
      within: () => createFairDiscipline({ groupOf: ({ key }: Item) => key[1], maxPerGroup: 1 }),
    }),
  "fair, with a discipline of a user inside": (notes) =>
    createFairDiscipline({ groupOf, within: () => new Noting(notes) }),
  "fair, with a wrapped discipline inside": () =>
    createFairDiscipline({ groupOf, within: () => wrapped(createFairDiscipline({ separator: "/", maxPerGroup: 1 })) }),
  "fair, with a discipline inside that refuses": () => createFairDiscipline({ groupOf, within: () => new Fussy() }),
  "fair, with a discipline inside whose order is not known": () =>
    createFairDiscipline({ groupOf, within: () => new PlainLifo() }),
};
const UNKNOWN_ORDER = ["fair, with a discipline inside whose order is not known"];

Deno.test("orders: each built-in discipline is here", () => {
  for (const { example: { type } } of builtInDisciplines) {
    assert(Object.keys(disciplines).some((name) => name.split(",")[0] === type), `no discipline named ${type}`);
  }
});

const KEYS = ["a1", "a2", "a3", "b1", "b2", "b3", "c1", "c2", "d1"];
const priority = fc.oneof(fc.integer({ min: -5, max: 5 }), fc.constantFrom(0.5, -0.5, 100, -100));
const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant("add" as const), key: fc.constantFrom(...KEYS), priority }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("take" as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("end" as const), which: fc.nat(20) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("cancel" as const), key: fc.constantFrom(...KEYS) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.integer({ min: -3, max: 9 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("begin" as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("slice" as const),
      keys: fc.uniqueArray(fc.constantFrom(...KEYS), { maxLength: 4 }),
      priority,
      isLast: fc.boolean(),
    }),
  },
);
const steps = fc.noBias(fc.array(step, { minLength: 1, maxLength: 120, size: "max" }));
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** Fields of a queue that a delaying queue sets while items become due, and its records. */
interface Inside {
  readonly records: Records;
  batch: Batch | undefined;
  batchReadyAt: number | undefined;
  readonly ordering: { readonly latestReadyAt: number };
}

const limiter = createExponentialLimiter<never>({ baseDelay: 10, maxDelay: 10 });

/** Takes steps on a queue with this discipline. Returns everything that a user can see after each step. */
function seen(steps: readonly Step[], discipline: QueueDiscipline<Item>, isOrderKnown: boolean): unknown[] {
  const clock = new HandClock(100);
  const queue = createRateLimitingQueue<Item>(limiter, { discipline, clock, keyOf });
  const inside = queue as unknown as Inside;
  const leases: Lease<Item>[] = [];
  const log: unknown[] = [];
  let version = 0;
  const attempt = (call: () => void) => {
    try {
      call();
    } catch (error) {
      log.push(String(error));
    }
  };
  const tryTake = () => {
    const lease = queue.tryGet();
    log.push(lease === undefined ? "nothing" : [lease.item, lease.priority]);
    if (lease !== undefined) leases.push(lease);
    return lease;
  };
  for (const step of steps) {
    if (step.do === "add") {
      const item = { key: step.key, version: ++version };
      attempt(() => queue.add(item, { priority: step.priority }));
    } else if (step.do === "cancel") {
      const record = inside.records.of(step.key);
      const isReady = record !== NONE && (inside.records.stateOf(record) & POSITION) === READY;
      if (isReady) attempt(() => log.push(queue.cancel({ key: step.key, version: 0 }) !== undefined));
    } else if (step.do === "take") attempt(tryTake);
    else if (step.do === "wait") clock.time += step.ms;
    else if (step.do === "end" && leases.length > 0) {
      const [lease] = leases.splice(step.which % leases.length, 1);
      attempt(() => lease![Symbol.dispose]());
    } else if (step.do === "begin" && inside.batch === undefined) {
      const readyAt = Math.max(clock.time, inside.ordering.latestReadyAt);
      inside.batch = { time: clock.time, readyAt, isAdding: false };
    } else if (step.do === "slice" && inside.batch !== undefined) {
      inside.batchReadyAt = inside.batch.readyAt;
      for (const key of step.keys) attempt(() => queue.add({ key, version: ++version }, { priority: step.priority }));
      inside.batchReadyAt = undefined;
      if (step.isLast) inside.batch = undefined;
    }
    const { readyItems, ...others } = queue.snapshot();
    if (!isOrderKnown) readyItems.sort((a, b) => a.item.key < b.item.key ? -1 : 1);
    const entries = discipline.peek!(3).map(({ key, item, priority }) => [key, item, priority]);
    log.push(
      others,
      readyItems,
      queue.length,
      queue.processing,
      queue.snapshot({ limit: 2 }).readyItems.length,
      entries,
    );
  }
  inside.batch = undefined;
  for (let i = 0; i < 50 && (leases.length > 0 || queue.length > 0); i++) {
    attempt(tryTake);
    const lease = leases.shift();
    attempt(() => lease?.[Symbol.dispose]());
  }
  return log;
}

for (const [name, create] of Object.entries(disciplines)) {
  Deno.test(`rule 22: ${name}: under random calls, a queue does the same as with a wrapped discipline`, () => {
    fc.assert(
      fc.property(steps, (steps) => {
        const isOrderKnown = !UNKNOWN_ORDER.includes(name);
        const [notes, notesOfWrapped]: [unknown[], unknown[]] = [[], []];
        const log = seen(steps, create(notes), isOrderKnown);
        assertEquals(log, seen(steps, wrapped(create(notesOfWrapped)), isOrderKnown));
        assertEquals(notes, notesOfWrapped);
      }),
      { numRuns: RUNS },
    );
  });
}

Deno.test("the discipline of a queue shows the items in the queue", () => {
  const clock = new HandClock(7);
  const discipline = createPriorityDiscipline<Item>();
  const queue = createWorkQueue<Item>({ discipline, clock, keyOf });
  queue.add({ key: "a", version: 1 }, { priority: 2 });
  queue.add({ key: "a", version: 2 }, { priority: 5 });
  assertEquals(discipline.length, 1);
  const entry = { key: "a", item: { key: "a", version: 2 }, priority: 5, readyAt: 7 };
  assertEquals(discipline.peek!(2), [entry]);
  const strict = createPriorityDiscipline<string>({ maxHeadStart: Infinity });
  createWorkQueue<string>({ discipline: strict, clock }).add("b");
  assertEquals(strict.peek!(2), [{ key: "b", item: "b", priority: 0, readyAt: -Infinity }]);
});

Deno.test("the discipline of a queue shows each item, also an item that is its own key", () => {
  const discipline = createPriorityDiscipline<{ id: string } | string>();
  const keyOf = (item: { id: string } | string) => typeof item === "string" ? item : item.id;
  const queue = createWorkQueue({ discipline, keyOf });
  const shown = () => discipline.peek!(9).map(({ item }) => item);
  for (const item of ["a", { id: "b" }, "c"]) queue.add(item);
  assertEquals(shown(), ["a", { id: "b" }, "c"]);
  for (const item of [{ id: "a" }, "b"]) queue.add(item);
  assertEquals(shown(), [{ id: "a" }, "b", "c"]);
  const lease = take(queue);
  queue.add("a");
  lease[Symbol.dispose]();
  assertEquals(shown(), ["b", "c", "a"]);
  for (let i = 0; i < 100; i++) queue.add({ id: `${i}` });
  takeAll(queue);
  for (const item of ["d", { id: "e" }]) queue.add(item);
  assertEquals(shown(), ["d", { id: "e" }]);
});

Deno.test("rule 9: a discipline that does not need the time does not ask for it", () => {
  let looks = 0;
  const clock = new HandClock();
  clock.now = () => ++looks;
  const looksOf = (discipline: QueueDiscipline<string>) => {
    const queue = createWorkQueue<string>({ discipline, clock });
    looks = 0; // the clock is checked at creation
    for (const key of ["a/1", "a/2"]) queue.add(key);
    const lease = take(queue);
    queue.add(lease.item);
    lease[Symbol.dispose]();
    takeAll(queue);
    return looks;
  };
  const separator = "/";
  assertEquals(looksOf(createPriorityDiscipline()), 3);
  assertEquals(looksOf(createFairDiscipline({ separator, within: () => createPriorityDiscipline() })), 3);
  assertEquals(looksOf(createPriorityDiscipline({ maxHeadStart: Infinity })), 0);
  assertEquals(looksOf(createFairDiscipline({ separator, maxPerGroup: 1 })), 0);
});

Deno.test("a discipline whose queue has no ready items can be used in another queue, and by hand", () => {
  const discipline = createPriorityDiscipline<string>();
  const first = createWorkQueue<string>({ discipline });
  first.add("a");
  const lease = take(first);
  const second = createWorkQueue<string>({ discipline });
  second.add("b");
  assertEquals([first.snapshot().readyItems, second.snapshot().readyItems], [[], [{ item: "b", priority: 0 }]]);
  const message = "Cannot add item: another queue uses the discipline: each queue needs its own";
  assertThrows(() => first.add("c"), Error, message);
  const entry = { key: "d", item: "d", priority: 0, readyAt: 0 };
  assertThrows(() => discipline.push(entry), Error, message);
  assertEquals([second.length, takeAll(second)], [1, ["b"]]);
  first.add("a");
  lease[Symbol.dispose]();
  assertEquals(takeAll(first), ["a"]);
  discipline.push(entry);
  assertThrows(() => second.add("e"), Error, message);
  assert(discipline.pop() === entry);
  second.add("e");
  assertEquals(takeAll(second), ["e"]);
});

Deno.test("a key that comes back to a discipline that another queue uses is not lost", () => {
  const discipline = createPriorityDiscipline<string>();
  const queues = [createWorkQueue<string>({ discipline }), createWorkQueue<string>({ discipline })] as const;
  queues[0].add("a");
  const lease = take(queues[0]);
  queues[0].add("a");
  queues[1].add("b");
  assertThrows(() => lease[Symbol.dispose](), Error, "each queue needs its own");
  queues[0].add("a", { priority: 5 });
  const again = take(queues[0]);
  assertEquals([again.item, again.priority, takeAll(queues[1])], ["a", 5, ["b"]]);
  again[Symbol.dispose]();
  for (const key of ["c", "d"]) queues[0].add(key);
  assertEquals(takeAll(queues[0]), ["c", "d"]);
});

Deno.test("a discipline that is wrapped or has entries is used through its methods", () => {
  const pushed: unknown[] = [];
  const discipline = new Proxy(createPriorityDiscipline<string>(), {
    get(target, name) {
      const value = Reflect.get(target, name, target);
      if (name !== "push") return typeof value === "function" ? value.bind(target) : value;
      return (entry: ReadyEntry<string>) => {
        pushed.push(entry.key);
        target.push(entry);
      };
    },
  });
  const first = createWorkQueue<string>({ discipline });
  first.add("low");
  first.add("high", { priority: 1 });
  assertEquals([pushed, takeAll(first)], [["low", "high"], ["high", "low"]]);
  const used = createPriorityDiscipline<string>();
  const entry = { key: "there", item: "there", priority: 0, readyAt: 0 };
  used.push(entry);
  const queue = createWorkQueue<string>({ discipline: used });
  assertEquals(queue.length, 1);
  assert(used.pop() === entry);
  queue.add("a");
  assertEquals(takeAll(queue), ["a"]);
});

Deno.test("a fair discipline keeps popped entries only if it must know when they are done", () => {
  const keeps = (within: () => QueueDiscipline<string>, maxPerGroup?: number) => {
    const discipline = createFairDiscipline<string>({ groupOf: () => "all", within, maxPerGroup });
    const entry = { key: "a", item: "a", priority: 0, readyAt: 0 };
    discipline.push(entry);
    assert(discipline.pop() === entry);
    return orderOf(discipline) instanceof DisciplineOrder; // a discipline that has entries is used through its methods
  };
  const lifo = () => new PlainLifo<string>();
  const awaiting = () => Object.assign(lifo(), { done() {} });
  const fair = (within?: () => QueueDiscipline<string>) =>
    createFairDiscipline<string>({ groupOf: () => "all", within });
  for (const within of [createPriorityDiscipline<string>, lifo, () => fair(), () => fair(lifo)]) {
    assert(!keeps(within));
    assert(keeps(within, 5));
  }
  for (const within of [awaiting, () => fair(awaiting)]) assert(keeps(within));
});

Deno.test("a user's discipline inside a fair one that returns an entry twice gets an error", () => {
  const entries: ReadyEntry<string>[] = [];
  let left = 0;
  const repeating: QueueDiscipline<string> = {
    push: (entry) => void (left = entries.push(entry)),
    pop: () => {
      left--;
      return entries[0];
    },
    touch() {},
    get length() {
      return left;
    },
  };
  const queue = createWorkQueue<string>({
    discipline: createFairDiscipline({ groupOf: () => "all", within: () => repeating }),
  });
  for (const item of ["a", "b"]) queue.add(item);
  assertEquals(take(queue).item, "a");
  assertThrows(() => queue.tryGet(), Error, "the discipline returned no ready item");
});

Deno.test("a user's discipline inside a fair one that throws in touch keeps its entry as it was", () => {
  const entries: ReadyEntry<Item>[] = [];
  class Untouchable extends PlainLifo<Item> {
    override push(entry: ReadyEntry<Item>) {
      super.push(entry);
      entries.push(entry);
    }

    override touch() {
      throw new Error("untouchable");
    }
  }
  const discipline = createFairDiscipline<Item>({ groupOf: () => "all", within: () => new Untouchable() });
  const queue = createWorkQueue<Item>({ discipline, keyOf });
  queue.add({ key: "a", version: 1 }, { priority: 3 });
  assertThrows(() => queue.add({ key: "a", version: 2 }, { priority: 8 }), Error, "untouchable");
  assertEquals([entries.length, entries[0]!.item.version, entries[0]!.priority], [1, 1, 3]);
  const lease = take(queue);
  assertEquals([lease.item.version, lease.priority], [1, 3]);
});

Deno.test("a discipline that adds and ends a key while it is told of the key's end gets the key back once", () => {
  class Again extends Lifo<string> {
    done({ item }: ReadyEntry<string>): void {
      queue.add(item);
      queue.done(item);
    }
  }
  const queue = createWorkQueue<string>({ discipline: new Again() });
  queue.add("a");
  for (let round = 0; round < 3; round++) {
    take(queue)[Symbol.dispose]();
    assertEquals([queue.length, queue.processing, queue.snapshot().blocked], [1, 0, 0]);
  }
});
