/** Tests of `adaptDiscipline`: a queue refuses a discipline of a user that was not passed through it. */

import { assert, assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import {
  adaptDiscipline,
  createDefaultItemLimiter,
  createDelayingQueue,
  createFairDiscipline,
  createPriorityDiscipline,
  createRateLimitingQueue,
  createWorkQueue,
  defineDiscipline,
  disciplines,
  loadConfig,
  type QueueDiscipline,
  type ReadyEntry,
  type WorkQueue,
  type WorkQueueOptions,
} from "@workqueue/core";
import { adaptDiscipline as adaptDisciplineOfWorkQueue } from "@workqueue/core/work-queue";
import { DisciplineOrder } from "../../lib/queue/discipline_order.ts";
import { orderOf, PlainLifo, takeAll } from "../queue_helpers.ts";

const REFUSED = "'discipline' must be a discipline, such as createPriorityDiscipline(), or adaptDiscipline(own)";

type Options = Pick<WorkQueueOptions<string>, "discipline">;

const layers: Readonly<Record<string, (options: Options) => WorkQueue<string>>> = {
  "create work queue": (options) => createWorkQueue<string>(options),
  "create delaying queue": (options) => createDelayingQueue<string>(options),
  "create rate limiting queue": (options) => createRateLimitingQueue<string>(createDefaultItemLimiter(), options),
};

/** Returns a discipline that is last in, first out, as an object literal. */
function literal() {
  const entries: ReadyEntry<string>[] = [];
  return {
    push: (entry: ReadyEntry<string>) => void entries.push(entry),
    pop: () => entries.pop(),
    touch() {},
    get length() {
      return entries.length;
    },
  };
}

/** Adds `"a"`, `"b"` and `"c"` to a queue, and returns them in the order in which the queue hands them out. */
function orderIn(queue: WorkQueue<string>): string[] {
  for (const item of ["a", "b", "c"]) queue.add(item);
  return takeAll(queue);
}

/** Reports whether a queue that has this discipline calls its methods. */
function usesMethods(discipline: object): boolean {
  return orderOf(discipline as QueueDiscipline<string>) instanceof DisciplineOrder;
}

for (const [action, create] of Object.entries(layers)) {
  Deno.test(`${action}: a user's discipline is refused until it is adapted`, () => {
    for (const own of [new PlainLifo<string>(), literal()]) {
      const { message } = assertThrows(() => create({ discipline: own }), TypeError);
      assertEquals(message, `Cannot ${action}: ${REFUSED}, got an object`);
      assertEquals(orderIn(create({ discipline: adaptDiscipline(own) })), ["c", "b", "a"]);
    }
  });
}

Deno.test("config.queue refuses a user's discipline until it is adapted", () => {
  const config = loadConfig({ queues: { images: {} } });
  const own = new PlainLifo<string>();
  assertThrows(() => config.queue<string>("images", { discipline: own }), TypeError, REFUSED);
  const queue = config.queue<string>("images", { discipline: adaptDiscipline(own) });
  assertEquals(orderIn(queue), ["c", "b", "a"]);
});

Deno.test("adaptDiscipline returns the same discipline, also the second time, and adds no enumerable member", () => {
  assertStrictEquals(adaptDisciplineOfWorkQueue, adaptDiscipline);
  const own = literal();
  const names = Object.keys(own);
  assertStrictEquals(adaptDiscipline(own), own);
  assertStrictEquals(adaptDiscipline(own), own);
  assertEquals(Object.keys(own), names);
  assert(usesMethods(own));
  assertEquals(orderIn(createWorkQueue<string>({ discipline: own })), ["c", "b", "a"]);
});

Deno.test("adaptDiscipline in a constructor: the methods that a derived class overrides are called", () => {
  class Adapted extends PlainLifo<string> {
    constructor() {
      super();
      adaptDiscipline(this);
    }
  }
  class Noting extends Adapted {
    readonly notes: string[] = [];
    override pop() {
      this.notes.push("pop");
      return super.pop();
    }
  }
  const discipline = new Noting();
  assertEquals(orderIn(createWorkQueue<string>({ discipline })), ["c", "b", "a"]);
  assertEquals(discipline.notes, ["pop", "pop", "pop"]);
});

Deno.test("adaptDiscipline returns a built-in discipline as it is, and the discipline keeps its own order", () => {
  const builtIns = [
    createPriorityDiscipline<string>(),
    createFairDiscipline<string>({ separator: "/" }),
    disciplines.build<string>({ type: "priority" }),
  ];
  for (const discipline of builtIns) {
    assertStrictEquals(adaptDiscipline(discipline), discipline);
    assert(!usesMethods(discipline));
  }
  const queue = createWorkQueue<string>({ discipline: adaptDiscipline(createPriorityDiscipline<string>()) });
  queue.add("low", { priority: -1 });
  queue.add("high", { priority: 1 });
  assertEquals(takeAll(queue), ["high", "low"]);
});

Deno.test("a proxy of a built-in or an adapted discipline needs no adaptDiscipline", () => {
  const cases = [
    { discipline: createPriorityDiscipline<string>(), order: ["a", "b", "c"] },
    { discipline: adaptDiscipline(new PlainLifo<string>()), order: ["c", "b", "a"] },
  ];
  for (const { discipline, order } of cases) {
    const proxy = new Proxy(discipline, {
      get(target, name) {
        const value = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    assertStrictEquals(adaptDiscipline(proxy), proxy);
    assertEquals(orderIn(createWorkQueue<string>({ discipline: proxy })), order);
  }
});

Deno.test("adaptDiscipline refuses a value that is not a discipline", () => {
  class WithoutPop {
    readonly length = 0;
    push() {}
    touch() {}
  }
  const expected = "Cannot adapt discipline: 'own' must have the methods push, pop and touch, and a length, got";
  const cases: [own: unknown, received: string][] = [
    [undefined, "undefined"],
    [null, "null"],
    ["lifo", `"lifo"`],
    [{}, "an object"],
    [[], "an array"],
    [PlainLifo, "a function"],
    [new WithoutPop(), "an object"],
    [{ push() {}, pop() {}, touch() {} }, "an object"],
  ];
  for (const [own, received] of cases) {
    const { message } = assertThrows(() => adaptDiscipline(own as never), TypeError);
    assertEquals(message, `${expected} ${received}`);
  }
});

Deno.test("adaptDiscipline refuses a discipline to which no property can be added", () => {
  for (const close of [Object.freeze, Object.seal, Object.preventExtensions]) {
    const own = literal();
    close(own);
    const { message } = assertThrows(() => adaptDiscipline(own), TypeError);
    assertEquals(message, "Cannot adapt discipline: 'own' must not be frozen or sealed, got an object");
    assertThrows(() => createWorkQueue<string>({ discipline: own }), TypeError, REFUSED);
  }
  const adapted = Object.freeze(adaptDiscipline(literal()));
  assertStrictEquals(adaptDiscipline(adapted), adapted);
  assertEquals(orderIn(createWorkQueue<string>({ discipline: adapted })), ["c", "b", "a"]);
});

Deno.test("a user's discipline that a registry or a config builds needs no adaptDiscipline", () => {
  const registry = disciplines.extend().register(defineDiscipline({
    type: "lifo",
    description: "Last in, first out.",
    options: {},
    create: () => new PlainLifo<unknown>(),
  }));
  const queue = createWorkQueue<string>({ discipline: registry.build({ type: "lifo" }) });
  assertEquals(orderIn(queue), ["c", "b", "a"]);
  const document = { queues: { images: { discipline: { type: "lifo" } } } };
  const images = loadConfig(document, { disciplines: registry }).queue<string>("images");
  assertEquals(orderIn(images), ["c", "b", "a"]);
});

Deno.test("a user's discipline inside a fair one needs no adaptDiscipline", () => {
  for (const within of [() => new PlainLifo<string>(), literal, () => adaptDiscipline(literal())]) {
    const discipline = createFairDiscipline<string>({ groupOf: () => "all", within });
    assert(!usesMethods(discipline));
    assertEquals(orderIn(createWorkQueue<string>({ discipline })), ["c", "b", "a"]);
  }
});
