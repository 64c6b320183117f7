/** Rule 10: queue options are checked as strictly as those in a document. */

import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  createBucketLimiter,
  createDefaultItemLimiter,
  createDelayingQueue,
  createExponentialLimiter,
  createIgnoreEarlyLimiter,
  createMaxOfLimiter,
  createMaxWaitLimiter,
  createPriorityDiscipline,
  createRateLimitingQueue,
  createWorkQueue,
  InMemoryMetrics,
  systemClock,
  type WorkQueue,
  type WorkQueueOptions,
} from "@workqueue/core";
import { Lifo, withoutNext } from "../queue_helpers.ts";

const noMetrics = "'metrics' must be a metrics provider, such as InMemoryMetrics, or adaptMetrics(own)";
const noDiscipline = `'discipline' must be a discipline, such as createPriorityDiscipline(), or adaptDiscipline(own)`;

type Create = (options: never) => WorkQueue<string>;

const layers: [action: string, create: Create, other: string][] = [
  ["create work queue", (options) => createWorkQueue<string>(options), "maxSleep"],
  ["create delaying queue", (options) => createDelayingQueue<string>(options), "limiter"],
  [
    "create rate limiting queue",
    (options) => createRateLimitingQueue<string>(createDefaultItemLimiter(), options),
    "limiter",
  ],
];

for (const [action, create, other] of layers) {
  Deno.test(`rule 10, ${action}: values that are not options are refused`, () => {
    const cases: [options: unknown, received: string][] = [
      ["images", `"images"`],
      [null, "null"],
      [["name"], "an array"],
      [() => {}, "a function"],
      [new AbortController().signal, "an object"],
    ];
    for (const [options, received] of cases) {
      const message = `Cannot ${action}: 'options' must be an object, got ${received}`;
      assertEquals(assertThrows(() => create(options as never), TypeError).message, message);
    }
  });

  Deno.test(`rule 10, ${action}: an unknown option is refused, with a suggestion`, () => {
    const unknown = assertThrows(() => create({ [other]: 1 } as never), TypeError);
    assertEquals(unknown.message, `Cannot ${action}: "${other}" is not an option here`);
    const misspelt = assertThrows(() => create({ metric: new InMemoryMetrics() } as never), TypeError);
    assertEquals(misspelt.message, `Cannot ${action}: "metric" is not an option here; did you mean "metrics"?`);
  });

  Deno.test(`rule 10, ${action}: an option with an invalid value is refused`, () => {
    const cases: [options: object, message: string][] = [
      [{ name: 7 }, "'name' must be a string, got 7"],
      [{ keyOf: "id" }, `'keyOf' must be a function, got "id"`],
      [{ metrics: {} }, `${noMetrics}, got an object`],
      [{ metrics: null }, `${noMetrics}, got null`],
      [
        { clock: Date },
        "'clock' must have timers, and a finite now(), got a function",
      ],
      [
        { clock: { now: () => 0 } },
        "'clock' must have timers, and a finite now(), got an object",
      ],
      [{ discipline: "fifo" }, `${noDiscipline}, got "fifo"`],
      [{ discipline: createPriorityDiscipline }, `${noDiscipline}, got a function`],
      [{ discipline: { type: "priority" } }, `${noDiscipline}, got an object`],
      [
        { discipline: { push() {}, pop() {}, touch() {} } },
        `${noDiscipline}, got an object`,
      ],
    ];
    for (const [options, message] of cases) {
      const { message: received } = assertThrows(() => create(options as never), Error);
      assertEquals(received, `Cannot ${action}: ${message}`);
    }
  });

  Deno.test(`rule 10, ${action}: undefined counts as omitted, symbols are ignored, and options may be a class instance`, () => {
    class Options implements WorkQueueOptions<string> {
      name = "q";
      metrics = new InMemoryMetrics();
    }
    assertEquals(create(new Options() as never).name, "q");
    const rest = { keyOf: undefined, discipline: undefined, clock: undefined, metrics: undefined, maxRetry: undefined };
    assertEquals(create({ name: undefined, ...rest, [Symbol("mine")]: 1 } as never).name, "");
    create({ name: "q", clock: systemClock, discipline: new Lifo<string>(), keyOf: (item: string) => item } as never);
  });

  Deno.test(`rule 10, ${action}: get refuses a signal where its options belong, and an option that it does not know`, async () => {
    const queue = create({} as never);
    const { signal } = new AbortController();
    const cases: [options: unknown, message: string][] = [
      [signal, "Cannot get item: 'options' must be an object, got an object"],
      [{ signl: signal }, `Cannot get item: "signl" is not an option here; did you mean "signal"?`],
      [{ signal: "now" }, `Cannot get item: 'signal' must be an AbortSignal, got "now"`],
      [null, "Cannot get item: 'options' must be an object, got null"],
    ];
    for (const [options, message] of cases) {
      assertEquals((await assertRejects(() => queue.get(options as never), TypeError)).message, message);
    }
    queue.add("a");
    for (const options of [undefined, {}, { signal: undefined }, { signal }]) {
      const lease = await queue.get(options);
      assertEquals(lease.item, "a");
      queue.add("a");
      lease[Symbol.dispose]();
    }
  });
}

Deno.test("rule 10: onDrop is an option of queues with delays, and must be a function", () => {
  const onDrop = () => {};
  assertThrows(() => createWorkQueue({ onDrop } as never), TypeError, '"onDrop" is not an option here');
  for (const [, create] of layers.slice(1)) {
    create({ onDrop } as never);
    assertThrows(() => create({ onDrop: "save" } as never), TypeError, "'onDrop' must be a function");
  }
});

Deno.test("rule 10: a queue on top of another queue is refused, because 'queue' is an unknown option", () => {
  for (const [action, create] of layers) {
    const refused = assertThrows(() => create({ queue: createDelayingQueue<string>() } as never), TypeError);
    assertEquals(refused.message, `Cannot ${action}: "queue" is not an option here`);
  }
});

Deno.test("rule 10: durations in options accept the same values as in a config", () => {
  createDelayingQueue({ maxSleep: "10s" });
  createRateLimitingQueue(createDefaultItemLimiter(), { maxSleep: "1m30s" });
  assertThrows(() => createDelayingQueue({ maxSleep: "0s" }), TypeError, `from 1 to 2147483647 ms, got "0s"`);
  assertThrows(() => createDelayingQueue({ maxSleep: "25 days" }), TypeError, "'maxSleep' must be a duration");
  assertThrows(() => createDelayingQueue({ ref: 0 as never }), RangeError, "'ref' must be true or false, got 0");
});

Deno.test("rule 10: forgetAfter is an option of queues with a limiter, and must be a duration", () => {
  for (const [, create] of layers.slice(0, 2)) {
    assertThrows(() => create({ forgetAfter: "1h" } as never), TypeError, '"forgetAfter" is not an option here');
  }
  const create = (forgetAfter: unknown) =>
    createRateLimitingQueue(createDefaultItemLimiter(), { forgetAfter: forgetAfter as number });
  for (const forgetAfter of [undefined, 0, 0.5, 1e15, "0s", "1h30m"]) create(forgetAfter).shutDown();
  for (const forgetAfter of [-1, Infinity, NaN, "1 h", "-1s", null, true, {}, new Date(5)]) {
    assertThrows(
      () => create(forgetAfter),
      Error,
      "Cannot create rate limiting queue: 'forgetAfter' must be a duration",
    );
  }
});

Deno.test("rule 10: a limiter with forgetAfter is refused, also inside others, unless it counts failures itself", () => {
  const forgetting = () => createExponentialLimiter<string>({ baseDelay: 1, maxDelay: 1, forgetAfter: "1h" });
  const message = "Cannot create rate limiting queue: 'forgetAfter' is an option of the queue, not of its limiter";
  const limiters = [
    forgetting(),
    createMaxWaitLimiter(forgetting(), 5),
    createMaxOfLimiter<string>(forgetting(), createBucketLimiter({ rate: 1, burst: 1 })),
    createIgnoreEarlyLimiter(forgetting()),
  ];
  for (const limiter of limiters) {
    const { message: actual } = assertThrows(() => createRateLimitingQueue(limiter), TypeError);
    assertEquals(actual, message);
  }
  createRateLimitingQueue({ ...withoutNext(forgetting()), forgetAfter: 3_600_000 });
  createRateLimitingQueue(createIgnoreEarlyLimiter(createDefaultItemLimiter(), { forgetAfter: "1h" }));
});
