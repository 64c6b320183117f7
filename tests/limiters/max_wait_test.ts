import { assertEquals, assertStrictEquals, assertThrows } from "@std/assert";
import {
  createBucketLimiter,
  createDefaultItemLimiter,
  createExponentialLimiter,
  createMaxWaitLimiter,
  type RateLimiter,
} from "@workqueue/core";
import { NOT_COUNTED } from "../../lib/base/brands.ts";
import { HandClock } from "../helpers.ts";
import { ATTEMPT, delays, DURATION, NextRecorder, Recorder, RETRY } from "./helpers.ts";

Deno.test("max-wait: caps the delays of another limiter, and passes on everything else", () => {
  const limiter = createMaxWaitLimiter<string>(createExponentialLimiter({ baseDelay: 100, maxDelay: 10_000 }), "1s");
  assertEquals(delays(limiter, "a", 6), [100, 200, 400, 800, 1000, 1000]);
  assertEquals(limiter.numRequeues("a"), 6);
  limiter.forget("a");
  assertEquals(limiter.numRequeues("a"), 0);
  assertEquals(limiter.when("a"), 100);

  const inner = new Recorder(70, 4);
  const recorded = createMaxWaitLimiter<string>(inner, 50);
  assertEquals([recorded.when("item", 1, ATTEMPT), recorded.numRequeues("item", 2)], [50, 4]);
  recorded.forget("item", 3);
  assertEquals(inner.calls, [["when", "item", 1, ATTEMPT], ["numRequeues", "item", 2], ["forget", "item", 3]]);
});

Deno.test("max-wait: caps the delays that a queue asks for, and passes on failures that are not counted", () => {
  const limiter = createMaxWaitLimiter<string>(createExponentialLimiter({ baseDelay: 100, maxDelay: 10_000 }), "1s");
  assertEquals([4, 5, 1, 100].map((failures) => limiter.next!(failures, "a", "a", RETRY)), [800, 1000, 100, 1000]);
  const ignoring = createMaxWaitLimiter(new NextRecorder(NOT_COUNTED), 5);
  assertEquals(ignoring.next!(1, "a", "a", RETRY), NOT_COUNTED);
});

Deno.test("max-wait: a bucket's long queue is capped for every item", () => {
  const limiter = createMaxWaitLimiter<number>(
    createBucketLimiter({ rate: 1, burst: 3, clock: new HandClock() }),
    2500,
  );
  assertEquals([1, 2, 3, 4, 5, 6, 7].map((item) => limiter.when(item)), [0, 0, 0, 1000, 2000, 2500, 2500]);
  assertEquals(createMaxWaitLimiter(new Recorder(5), 0).when("a"), 0);
});

Deno.test("max-wait: a value that is not a limiter, and an invalid delay, are refused", () => {
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
    assertEquals(message, `Cannot create max-wait limiter: 'limiter' must be a rate limiter, got ${received}`);
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
    assertEquals(message, `Cannot create max-wait limiter: 'maxDelay' ${DURATION}, got ${received}`);
  }
  const { message } = assertThrows(() => createMaxWaitLimiter(limiter, undefined as unknown as number), TypeError);
  assertStrictEquals(
    message,
    "Cannot create max-wait limiter: missing required option 'maxDelay' (maximum delay, whatever the other limiter returns)",
  );
});
