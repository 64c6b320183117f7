import { assert, assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import {
  createBucketLimiter,
  createDefaultControllerLimiter,
  createDefaultItemLimiter,
  createExponentialLimiter,
  createFastSlowLimiter,
  createMaxOfLimiter,
  createMaxWaitLimiter,
  type RateLimiter,
  TokenBucket,
} from "@workqueue/core";
import { FakeTime } from "@std/testing/time";
import { HandClock } from "./helpers.ts";

const DURATION = `must be a duration such as "250ms", "1h30m" or a number of milliseconds of at least 0 ms`;

/** The next delays of an item. */
function delays<T>(limiter: RateLimiter<T>, item: T, count: number): number[] {
  return Array.from({ length: count }, () => limiter.when(item));
}

/** Always says the same, and writes down what it is asked. */
class Recorder implements RateLimiter {
  readonly calls: unknown[][] = [];

  constructor(readonly delay: number, readonly requeues = 0) {}

  when(...args: unknown[]): number {
    this.calls.push(["when", ...args]);
    return this.delay;
  }

  forget(...args: unknown[]): void {
    this.calls.push(["forget", ...args]);
  }

  numRequeues(...args: unknown[]): number {
    this.calls.push(["numRequeues", ...args]);
    return this.requeues;
  }
}

Deno.test("exponential: doubles the delay of an item with each of its failures", () => {
  const limiter = createExponentialLimiter<string>({ baseDelay: 1, maxDelay: 1000 });
  assertEquals(delays(limiter, "one", 5), [1, 2, 4, 8, 16]);
  assertEquals(limiter.numRequeues("one"), 5);
  assertEquals(delays(limiter, "two", 2), [1, 2]);
  assertEquals(limiter.numRequeues("two"), 2);
  assertEquals(limiter.numRequeues("three"), 0);

  limiter.forget("one");
  assertEquals(limiter.numRequeues("one"), 0);
  assertEquals(limiter.numRequeues("two"), 2);
  assertEquals(limiter.when("one"), 1);
  limiter.forget("three"); // which never failed
});

Deno.test("exponential: stops at the longest delay", () => {
  const limiter = createExponentialLimiter({ baseDelay: "5ms", maxDelay: "30ms" });
  assertEquals(delays(limiter, "a", 6), [5, 10, 20, 30, 30, 30]);
  assertEquals(delays(createExponentialLimiter({ baseDelay: 7, maxDelay: 7 }), "a", 3), [7, 7, 7]);
  assertEquals(delays(createExponentialLimiter({ baseDelay: "500us", maxDelay: "1.5ms" }), "a", 3), [0.5, 1, 1.5]);
});

Deno.test("exponential: never overflows, however often an item fails", () => {
  const cases = [
    { baseDelay: 1, maxDelay: 1_000_000 },
    { baseDelay: "1m", maxDelay: "1000h" },
    { baseDelay: Number.MIN_VALUE, maxDelay: 1e300 },
    { baseDelay: 1, maxDelay: Number.MAX_VALUE },
    { baseDelay: 1e300, maxDelay: Number.MAX_VALUE },
  ];
  for (const options of cases) {
    const limiter = createExponentialLimiter(options);
    const all = delays(limiter, "a", 5000);
    assert(all.every(Number.isFinite), JSON.stringify(options));
    assert(all.every((delay, i) => i === 0 || delay >= all[i - 1]!), JSON.stringify(options));
    assertEquals(limiter.numRequeues("a"), 5000);
  }
  const limiter = createExponentialLimiter({ baseDelay: "1m", maxDelay: "1000h" });
  assertEquals(delays(limiter, "a", 1001).at(-1), 3_600_000_000);
});

Deno.test("exponential: without a base delay nobody waits, however often an item fails", () => {
  const limiter = createExponentialLimiter({ baseDelay: 0, maxDelay: 1000 });
  assertEquals(delays(limiter, "a", 3000), new Array(3000).fill(0));
  assertEquals(delays(createExponentialLimiter({ baseDelay: 0, maxDelay: 0 }), "a", 2), [0, 0]);
});

Deno.test("fast-slow: the first failures cost little, the further ones much", () => {
  const limiter = createFastSlowLimiter({ fastDelay: "5ms", slowDelay: "10s", maxFastAttempts: 3 });
  assertEquals(delays(limiter, "one", 5), [5, 5, 5, 10_000, 10_000]);
  assertEquals(limiter.numRequeues("one"), 5);
  assertEquals(delays(limiter, "two", 2), [5, 5]);
  assertEquals(limiter.numRequeues("two"), 2);

  limiter.forget("one");
  assertEquals(limiter.numRequeues("one"), 0);
  assertEquals(limiter.numRequeues("two"), 2);
  assertEquals(limiter.when("one"), 5);
});

Deno.test("fast-slow: with no fast attempts the first failure is slow, and thousands change nothing", () => {
  const limiter = createFastSlowLimiter({ fastDelay: 5, slowDelay: 60, maxFastAttempts: 0 });
  assertEquals(delays(limiter, "a", 5000), new Array(5000).fill(60));
  assertEquals(limiter.numRequeues("a"), 5000);
});

Deno.test("fast-slow: the fast delay may be the longer one", () => {
  const limiter = createFastSlowLimiter({ fastDelay: 60, slowDelay: 5, maxFastAttempts: 1 });
  assertEquals(delays(limiter, "a", 3), [60, 5, 5]);
});

Deno.test("bucket: all items together take from it, and it counts none of them", () => {
  const clock = new HandClock();
  const limiter = createBucketLimiter<string>({ rate: 10, burst: 2, clock });
  assertEquals(["a", "b", "c", "a"].map((item) => limiter.when(item)), [0, 0, 100, 200]);
  assertEquals(limiter.numRequeues("a"), 0);
  limiter.forget("a"); // gives nothing back
  assertEquals(limiter.when("a"), 300);
  clock.time = 1000;
  assertEquals(["a", "b", "c"].map((item) => limiter.when(item)), [0, 0, 100]);
});

Deno.test("bucket: its token bucket is at hand, to take from and to change", () => {
  const clock = new HandClock();
  const limiter = createBucketLimiter<string>({ rate: 10, burst: 2, clock });
  const { bucket } = limiter;
  assert(bucket instanceof TokenBucket);
  assertEquals([bucket.rate, bucket.burst, bucket.tokens], [10, 2, 2]);
  assertEquals([limiter.when("a"), bucket.tokens, bucket.allow(), limiter.when("b")], [0, 1, true, 100]);
  bucket.setRate(1);
  assertEquals(limiter.when("a"), 2000);
});

Deno.test("bucket: takes the time of the runtime where no clock is given", () => {
  using time = new FakeTime();
  for (const limiter of [createBucketLimiter({ rate: 2, burst: 1 }), createDefaultControllerLimiter()]) {
    delays(limiter, "a", 150);
    time.tick(60_000);
    limiter.forget("a");
    assert(limiter.when("a") <= 15_000);
  }
  const limiter = createBucketLimiter({ rate: 2, burst: 1, clock: undefined });
  assertEquals(delays(limiter, "a", 2), [0, 500]);
  time.tick(1000);
  assertEquals(delays(limiter, "a", 1), [0]);
});

Deno.test("bucket: a delay is a finite number, even where a token never comes", () => {
  const never = createBucketLimiter({ rate: 0, burst: 1, clock: new HandClock() });
  assertEquals(never.when("a"), 0);
  const delay = never.when("a");
  assert(Number.isFinite(delay));
  const years = delay / (365 * 24 * 3_600_000);
  assert(years > 250 && years < 300, "Go's longest duration");
  const noBurst = createBucketLimiter({ rate: 1, burst: 0, clock: new HandClock() });
  assertEquals(noBurst.when("a"), delay);
  const infinite = createBucketLimiter({ rate: Infinity, burst: 0, clock: new HandClock() });
  assertEquals(delays(infinite, "a", 1000), new Array(1000).fill(0));
});

Deno.test("bucket: thousands of items queue up behind each other", () => {
  const limiter = createBucketLimiter({ rate: 8, burst: 1, clock: new HandClock() });
  assertEquals(delays(limiter, "a", 5000), Array.from({ length: 5000 }, (_, i) => i * 125));
});

Deno.test("max-of: the longest delay and the highest count win", () => {
  const limiter = createMaxOfLimiter<string>(
    createFastSlowLimiter({ fastDelay: 5, slowDelay: 3000, maxFastAttempts: 3 }),
    createExponentialLimiter({ baseDelay: 1, maxDelay: 1000 }),
  );
  assertEquals(delays(limiter, "one", 5), [5, 5, 5, 3000, 3000]);
  assertEquals(limiter.numRequeues("one"), 5);
  assertEquals(delays(limiter, "two", 2), [5, 5]);
  assertEquals(limiter.numRequeues("two"), 2);
  limiter.forget("one");
  assertEquals(limiter.numRequeues("one"), 0);
  assertEquals(limiter.when("one"), 5);

  const counts = createMaxOfLimiter(new Recorder(1, 3), new Recorder(9, 7), new Recorder(4, 5));
  assertEquals([counts.when("a"), counts.numRequeues("a")], [9, 7]);
  const none = createMaxOfLimiter(new Recorder(0, 0));
  assertEquals([none.when("a"), none.numRequeues("a")], [0, 0]);
});

Deno.test("max-of: every limiter is asked and told, with the item and its key", () => {
  const inner = [new Recorder(3), new Recorder(2), new Recorder(1)];
  const limiter = createMaxOfLimiter<string>(...inner);
  limiter.when("item", 1);
  limiter.forget("item", 2);
  limiter.numRequeues("item", 3);
  for (const { calls } of inner) {
    assertEquals(calls, [["when", "item", 1], ["forget", "item", 2], ["numRequeues", "item", 3]]);
  }
});

Deno.test("max-wait: cuts the delays of another limiter, and passes all else on", () => {
  const limiter = createMaxWaitLimiter<string>(createExponentialLimiter({ baseDelay: 100, maxDelay: 10_000 }), "1s");
  assertEquals(delays(limiter, "a", 6), [100, 200, 400, 800, 1000, 1000]);
  assertEquals(limiter.numRequeues("a"), 6);
  limiter.forget("a");
  assertEquals(limiter.numRequeues("a"), 0);
  assertEquals(limiter.when("a"), 100);

  const inner = new Recorder(70, 4);
  const recorded = createMaxWaitLimiter<string>(inner, 50);
  assertEquals([recorded.when("item", 1), recorded.numRequeues("item", 2)], [50, 4]);
  recorded.forget("item", 3);
  assertEquals(inner.calls, [["when", "item", 1], ["numRequeues", "item", 2], ["forget", "item", 3]]);
});

Deno.test("max-wait: a bucket's long queue is cut for every item", () => {
  const limiter = createMaxWaitLimiter<number>(
    createBucketLimiter({ rate: 1, burst: 3, clock: new HandClock() }),
    2500,
  );
  assertEquals([1, 2, 3, 4, 5, 6, 7].map((item) => limiter.when(item)), [0, 0, 0, 1000, 2000, 2500, 2500]);
  assertEquals(createMaxWaitLimiter(new Recorder(5), 0).when("a"), 0);
});

Deno.test("rule 8: limiters count by the key where there is one, and by the item where there is none", () => {
  const cases: [name: string, limiter: RateLimiter<object | string>, delays: number[]][] = [
    ["exponential", createExponentialLimiter({ baseDelay: 1, maxDelay: 100 }), [1, 2, 4]],
    ["fast-slow", createFastSlowLimiter({ fastDelay: 1, slowDelay: 9, maxFastAttempts: 2 }), [1, 1, 9]],
    ["max-of", createMaxOfLimiter(createExponentialLimiter({ baseDelay: 1, maxDelay: 100 })), [1, 2, 4]],
    ["max-wait", createMaxWaitLimiter(createExponentialLimiter({ baseDelay: 1, maxDelay: 100 }), 3), [1, 2, 3]],
    ["item default", createDefaultItemLimiter(), [1, 2, 4]],
    ["controller default", createDefaultControllerLimiter(), [5, 10, 20]],
  ];
  for (const [name, limiter, [first, second, third]] of cases) {
    // the same key, as an object that is made anew each time
    assertEquals(limiter.when({ id: 1 }, "one"), first!, name);
    assertEquals(limiter.when({ id: 1 }, "one"), second!, name);
    assertEquals(limiter.when({ id: 2 }, "two"), first!, name);
    assertEquals(limiter.when("one"), third!, `${name}: an item that is the key`);
    assertEquals(limiter.numRequeues({}, "one"), 3, name);
    limiter.forget({}, "one");
    assertEquals(limiter.numRequeues("one"), 0, name);
    assertEquals(limiter.numRequeues({}, "two"), 1, name);
    // items are compared by identity
    const item = {};
    limiter.when(item);
    assertEquals([limiter.numRequeues(item), limiter.numRequeues({})], [1, 0], name);
    limiter.forget(item);
    assertEquals(limiter.numRequeues(item), 0, name);
  }
});

Deno.test("keys are compared as a Map does, whatever they are called", () => {
  const limiter = createExponentialLimiter({ baseDelay: 1, maxDelay: 100 });
  for (const key of ["__proto__", "constructor", "toString", "", 0, NaN, null, 1, "1", false]) {
    assertEquals(limiter.numRequeues("item", key), 0);
    assertEquals([limiter.when("item", key), limiter.when("item", key)], [1, 2]);
    assertEquals(limiter.numRequeues("item", key), 2);
  }
});

Deno.test("the controllers' default: 5 ms to 1000 s for an item, 10 a second and 100 at once for all", () => {
  const clock = new HandClock();
  const limiter = createDefaultControllerLimiter<number | string>({ clock });
  assertEquals(delays(limiter, "a", 3), [5, 10, 20]);
  for (let item = 0; item < 97; item++) assertEquals(limiter.when(item), 5);
  assertEquals([limiter.when("b"), limiter.when("c")], [100, 200]); // the hundred are gone
  assertEquals(limiter.numRequeues("a"), 3);
  clock.time = 1e6;
  assertEquals(delays(limiter, "a", 30).slice(0, 3), [40, 80, 160]);
  assertEquals(limiter.when("a"), 1_000_000);
  limiter.forget("a");
  clock.time = 1e7;
  assertEquals(limiter.when("a"), 5);
});

Deno.test("the items' default: 1 ms to 1000 s for an item, and nothing for all", () => {
  const limiter = createDefaultItemLimiter<number | string>();
  assertEquals(delays(limiter, "a", 4), [1, 2, 4, 8]);
  assertEquals(delays(limiter, "a", 1000).at(-1), 1_000_000);
  for (let item = 0; item < 1000; item++) assertEquals(limiter.when(item), 1);
});

Deno.test("limiters that are made twice share nothing", () => {
  for (const create of [createDefaultItemLimiter, createDefaultControllerLimiter]) {
    const [one, two] = [create(), create()];
    one.when("a");
    assertEquals([one.numRequeues("a"), two.numRequeues("a")], [1, 0]);
  }
});

type BadOption = [options: unknown, rest: string, ErrorClass?: typeof RangeError];

/** The error for a bad value: numbers are out of range, all else is of the wrong type. */
function errorFor(value: unknown): [ErrorClass?: typeof RangeError] {
  return typeof value === "number" ? [RangeError] : [];
}

/** Every bad value of these options, with what is said of it. */
function badDurations(option: string, others: object): BadOption[] {
  const values: [value: unknown, received: string][] = [
    [NaN, "NaN"],
    [-1, "-1"],
    [-0.001, "-0.001"],
    [Infinity, "Infinity"],
    [-Infinity, "-Infinity"],
    ["-5ms", `"-5ms"`],
    ["soon", `"soon"`],
    ["5", `"5"`],
    ["", `""`],
    [null, "null"],
    [true, "true"],
    [[5], "an array"],
    [5n, "5n"],
    [new Date(5), "an object"],
    ["9".repeat(1000), `"${"9".repeat(60)}…"`],
  ];
  return values.map(([value, received]) => [
    { ...others, [option]: value },
    `'${option}' ${DURATION}: received ${received}`,
    ...errorFor(value),
  ]);
}

function badCounts(option: string, others: object): BadOption[] {
  const values: [value: unknown, received: string][] = [
    [1.5, "1.5"],
    [-1, "-1"],
    [NaN, "NaN"],
    [Infinity, "Infinity"],
    [2 ** 53, "9007199254740992"],
    ["3", `"3"`],
    [null, "null"],
    [3n, "3n"],
  ];
  return values.map(([value, received]) => [
    { ...others, [option]: value },
    `'${option}' must be a non-negative integer: received ${received}`,
    ...errorFor(value),
  ]);
}

const BAD_OPTIONS: [kind: string, create: (options: never) => unknown, cases: BadOption[]][] = [
  ["bucket", createBucketLimiter, [
    [{ rate: NaN, burst: 1 }, "'rate' must be a non-negative number: received NaN", RangeError],
    [{ rate: -1, burst: 1 }, "'rate' must be a non-negative number: received -1", RangeError],
    [{ rate: -Infinity, burst: 1 }, "'rate' must be a non-negative number: received -Infinity", RangeError],
    [{ rate: "10", burst: 1 }, `'rate' must be a non-negative number: received "10"`],
    [{ rate: [10], burst: 1 }, "'rate' must be a non-negative number: received an array"],
    ...badCounts("burst", { rate: 1 }),
    [{ burst: 1 }, "'rate' is missing: Retries a second, on average and over all items."],
    [{ rate: 1, burst: undefined }, "'burst' is missing: How many retries may happen at once."],
    [{ rate: 1, burst: 1, brust: 2 }, `"brust" is not an option here; did you mean "burst"?`],
    [{ rate: 1, burst: 1, type: "bucket" }, `"type" is not an option here`],
    [{ rate: 1, burst: 1, xyzzy: null }, `"xyzzy" is not an option here`],
    [{ rate: 1, burst: 1, clock: 5 }, "'clock' must be a clock: received 5", RangeError],
    [JSON.parse(`{ "rate": 1, "burst": 1, "__proto__": {} }`), `"__proto__" is not an option here`],
  ]],
  ["exponential", createExponentialLimiter, [
    ...badDurations("baseDelay", { maxDelay: 1000 }),
    ...badDurations("maxDelay", { baseDelay: 0 }),
    [{ baseDelay: 10, maxDelay: 9 }, "'maxDelay' must not be less than 'baseDelay' (10 ms): received 9", RangeError],
    [
      { baseDelay: "1m", maxDelay: 59_999 },
      "'maxDelay' must not be less than 'baseDelay' (60000 ms): received 59999",
      RangeError,
    ],
    [{ maxDelay: 1 }, "'baseDelay' is missing: How long an item waits after its first failure."],
    [{ baseDelay: 1 }, "'maxDelay' is missing: The longest an item waits, however often it failed."],
    [{ basedelay: 1, maxDelay: 1 }, `"basedelay" is not an option here; did you mean "baseDelay"?`],
  ]],
  ["fast-slow", createFastSlowLimiter, [
    ...badDurations("fastDelay", { slowDelay: 1, maxFastAttempts: 1 }),
    ...badDurations("slowDelay", { fastDelay: 1, maxFastAttempts: 1 }),
    ...badCounts("maxFastAttempts", { fastDelay: 1, slowDelay: 1 }),
    [
      { slowDelay: 1, maxFastAttempts: 1 },
      "'fastDelay' is missing: How long an item waits after each of its first failures.",
    ],
    [{ fastDelay: 1, maxFastAttempts: 1 }, "'slowDelay' is missing: How long it waits after each further failure."],
    [{ fastDelay: 1, slowDelay: 1 }, "'maxFastAttempts' is missing: After how many failures the delay becomes slow."],
    [
      { fastDelay: 1, slowDelay: 1, maxFastAttempts: 1, maxFastAttempt: 2 },
      `"maxFastAttempt" is not an option here; did you mean "maxFastAttempts"?`,
    ],
  ]],
];

for (const [kind, create, cases] of BAD_OPTIONS) {
  Deno.test(`${kind}: bad options are refused, with the option, the rule and the value`, () => {
    for (const [options, rest, ErrorClass = TypeError] of cases) {
      const { message } = assertThrows(() => create(options as never), ErrorClass);
      assertEquals(message, `Cannot create ${kind} limiter as ${rest}`);
    }
  });
}

Deno.test("options that are no object are refused", () => {
  const values: [options: unknown, received: string][] = [
    [undefined, "undefined"],
    [null, "null"],
    [5, "5"],
    ["5ms", `"5ms"`],
    [[], "an array"],
  ];
  for (const [options, received] of values) {
    for (const create of [createBucketLimiter, createExponentialLimiter, createFastSlowLimiter]) {
      const { message } = assertThrows(() => create(options as never), Error);
      assert(message.endsWith(`as 'options' must be an object: received ${received}`), message);
    }
    if (options === undefined) continue;
    assertThrows(() => createDefaultControllerLimiter(options as never), Error, "'options' must be an object");
  }
});

Deno.test("rule 10: options in code that are undefined count as left out, symbols are ignored, and classes are taken", () => {
  class Options {
    rate = 10;
    burst = 1;
    clock = undefined;
    xyzzy = undefined;
  }
  const options = Object.assign(new Options(), { [Symbol("more")]: 1 });
  assertEquals(createBucketLimiter(options).when("a"), 0);
  const misspelt = { clok: new HandClock() } as never;
  assertEquals(
    assertThrows(() => createDefaultControllerLimiter(misspelt), TypeError).message,
    `Cannot create default controller limiter as "clok" is not an option here; did you mean "clock"?`,
  );
});

Deno.test("max-of: none, or one that is no limiter, is refused", () => {
  const rest = "Cannot create max-of limiter as 'limiters' must be one or more rate limiters: received an array";
  const good = createDefaultItemLimiter();
  const { forget, numRequeues } = new Recorder(1);
  const bad: unknown[][] = [
    [],
    [undefined],
    [good, null],
    [good, {}],
    [[good]],
    ["exponential"],
    [
      { forget, numRequeues },
    ],
    [{ ...good }],
    [{ when: () => 1, forget, numRequeues: 0 }],
  ];
  for (const limiters of bad) {
    const { message } = assertThrows(() => createMaxOfLimiter(...limiters as RateLimiter[]), TypeError);
    assertEquals(message, rest);
  }
});

Deno.test("max-wait: no limiter, or a bad delay, is refused", () => {
  const limiter = createDefaultItemLimiter();
  const limiters: [value: unknown, received: string][] = [
    [undefined, "undefined"],
    [null, "null"],
    ["exponential", `"exponential"`],
    [{}, "an object"],
    [() => 5, "a function"],
  ];
  for (const [value, received] of limiters) {
    const { message } = assertThrows(() => createMaxWaitLimiter(value as RateLimiter, 1), TypeError);
    assertEquals(message, `Cannot create max-wait limiter as 'limiter' must be a rate limiter: received ${received}`);
  }
  const delays: [value: unknown, ErrorClass: typeof RangeError | typeof TypeError, received: string][] = [
    [NaN, RangeError, "NaN"],
    [-1, RangeError, "-1"],
    [Infinity, RangeError, "Infinity"],
    ["-1s", TypeError, `"-1s"`],
    [null, TypeError, "null"],
  ];
  for (const [value, ErrorClass, received] of delays) {
    const { message } = assertThrows(() => createMaxWaitLimiter(limiter, value as number), ErrorClass);
    assertEquals(message, `Cannot create max-wait limiter as 'maxDelay' ${DURATION}: received ${received}`);
  }
  const { message } = assertThrows(() => createMaxWaitLimiter(limiter, undefined as unknown as number), TypeError);
  assertStrictEquals(
    message,
    "Cannot create max-wait limiter as 'maxDelay' is missing: The longest an item waits, whatever that limiter says.",
  );
});

Deno.test("options are read once: changing the object afterwards changes nothing", () => {
  const options = { baseDelay: 1, maxDelay: 100 };
  const limiter = createExponentialLimiter(options);
  options.baseDelay = 50;
  assertEquals(limiter.when("a"), 1);
  const limiters = [new Recorder(1), new Recorder(2)];
  const maxOf = createMaxOfLimiter(...limiters);
  limiters.push(new Recorder(3));
  assertEquals(maxOf.when("a"), 2);
});
