/** Options of limiters that are created in code. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  createBucketLimiter,
  createDefaultControllerLimiter,
  createExponentialLimiter,
  createFastSlowLimiter,
  createMaxOfLimiter,
} from "@workqueue/core";
import { HandClock } from "../helpers.ts";
import { badCounts, badDurations, type BadOption, Recorder } from "./helpers.ts";

const BAD_OPTIONS: [kind: string, create: (options: never) => unknown, cases: BadOption[]][] = [
  ["bucket", createBucketLimiter, [
    [{ rate: NaN, burst: 1 }, "'rate' must be a non-negative number, got NaN", RangeError],
    [{ rate: -1, burst: 1 }, "'rate' must be a non-negative number, got -1", RangeError],
    [{ rate: -Infinity, burst: 1 }, "'rate' must be a non-negative number, got -Infinity", RangeError],
    [{ rate: "10", burst: 1 }, `'rate' must be a non-negative number, got "10"`],
    [{ rate: [10], burst: 1 }, "'rate' must be a non-negative number, got an array"],
    ...badCounts("burst", { rate: 1 }),
    [{ burst: 1 }, "missing required option 'rate' (retries per second, on average, across all items)"],
    [{ rate: 1, burst: undefined }, "missing required option 'burst' (maximum number of retries at once)"],
    [{ rate: 1, burst: 1, brust: 2 }, `"brust" is not an option here; did you mean "burst"?`],
    [{ rate: 1, burst: 1, type: "bucket" }, `"type" is not an option here`],
    [{ rate: 1, burst: 1, xyzzy: null }, `"xyzzy" is not an option here`],
    [
      { rate: 1, burst: 1, clock: 5 },
      "'clock' must have timers, and a finite now(), got 5",
      RangeError,
    ],
    [JSON.parse(`{ "rate": 1, "burst": 1, "__proto__": {} }`), `"__proto__" is not an option here`],
  ]],
  ["exponential", createExponentialLimiter, [
    ...badDurations("baseDelay", { maxDelay: 1000 }),
    ...badDurations("maxDelay", { baseDelay: 0 }),
    [{ baseDelay: 10, maxDelay: 9 }, "'maxDelay' must not be less than 'baseDelay' (10 ms), got 9", RangeError],
    [
      { baseDelay: "1m", maxDelay: 59_999 },
      "'maxDelay' must not be less than 'baseDelay' (60000 ms), got 59999",
      RangeError,
    ],
    [{ maxDelay: 1 }, "missing required option 'baseDelay' (delay after an item's first failure)"],
    [{ baseDelay: 1 }, "missing required option 'maxDelay' (maximum delay, regardless of the number of failures)"],
    [{ basedelay: 1, maxDelay: 1 }, `"basedelay" is not an option here; did you mean "baseDelay"?`],
  ]],
  ["fast-slow", createFastSlowLimiter, [
    ...badDurations("fastDelay", { slowDelay: 1, maxFastAttempts: 1 }),
    ...badDurations("slowDelay", { fastDelay: 1, maxFastAttempts: 1 }),
    ...badCounts("maxFastAttempts", { fastDelay: 1, slowDelay: 1 }),
    [
      { slowDelay: 1, maxFastAttempts: 1 },
      "missing required option 'fastDelay' (delay after each of an item's first failures)",
    ],
    [
      { fastDelay: 1, maxFastAttempts: 1 },
      "missing required option 'slowDelay' (delay after each further failure)",
    ],
    [
      { fastDelay: 1, slowDelay: 1 },
      "missing required option 'maxFastAttempts' (number of failures that get the fast delay)",
    ],
    [
      { fastDelay: 1, slowDelay: 1, maxFastAttempts: 1, maxFastAttempt: 2 },
      `"maxFastAttempt" is not an option here; did you mean "maxFastAttempts"?`,
    ],
  ]],
];

for (const [kind, create, cases] of BAD_OPTIONS) {
  Deno.test(`${kind}: invalid options are refused, with the option, the rule and the value`, () => {
    for (const [options, rest, ErrorClass = TypeError] of cases) {
      const { message } = assertThrows(() => create(options as never), ErrorClass);
      assertEquals(message, `Cannot create ${kind} limiter: ${rest}`);
    }
  });
}

Deno.test("options that are not an object are refused", () => {
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
      assert(message.endsWith(`'options' must be an object, got ${received}`), message);
    }
    if (options === undefined) continue;
    assertThrows(() => createDefaultControllerLimiter(options as never), Error, "'options' must be an object");
  }
});

Deno.test("rule 10: undefined options in code count as omitted, symbols are ignored, and class instances are accepted", () => {
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
    `Cannot create default controller limiter: "clok" is not an option here; did you mean "clock"?`,
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
