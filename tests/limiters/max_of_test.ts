import { assertEquals, assertThrows } from "@std/assert";
import {
  createDefaultItemLimiter,
  createExponentialLimiter,
  createFastSlowLimiter,
  createMaxOfLimiter,
  type RateLimiter,
} from "@workqueue/core";
import { NOT_COUNTED } from "../../lib/base/brands.ts";
import { ATTEMPT, delays, NextRecorder, Recorder, RETRY } from "./helpers.ts";

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

Deno.test("max-of: calls each method of every limiter, with the item and its key", () => {
  const inner = [new Recorder(3), new Recorder(2), new Recorder(1)];
  const limiter = createMaxOfLimiter<string>(...inner);
  limiter.when("item", 1, ATTEMPT);
  limiter.forget("item", 2);
  limiter.numRequeues("item", 3);
  for (const { calls } of inner) {
    assertEquals(calls, [["when", "item", 1, ATTEMPT], ["forget", "item", 2], ["numRequeues", "item", 3]]);
  }
});

Deno.test("max-of: an empty list, and an element that is not a limiter, are refused", () => {
  const rest = "Cannot create max-of limiter: 'limiters' must be one or more rate limiters, got an array";
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

Deno.test("max-of: an error of one of the limiters is passed on", () => {
  const broken: RateLimiter = {
    when() {
      throw new Error("when is broken");
    },
    forget() {},
    numRequeues: () => 0,
  };
  const after = new Recorder(1);
  const limiter = createMaxOfLimiter(createDefaultItemLimiter(), broken, after);
  assertThrows(() => limiter.when("a"), Error, "when is broken");
  assertThrows(() => limiter.next!(1, "a", "a", RETRY), Error, "when is broken");
  assertEquals([after.calls, limiter.atRest!()], [[], false]);
});

Deno.test("max-of: a queue gets the longest delay, too, whether the limiters count themselves or not", () => {
  const limiter = createMaxOfLimiter<string>(
    createFastSlowLimiter({ fastDelay: 5, slowDelay: 3000, maxFastAttempts: 3 }),
    createExponentialLimiter({ baseDelay: 1, maxDelay: 1000 }),
  );
  const next = (limiter: RateLimiter<string>, failures: number) => limiter.next!(failures, "a", "a", RETRY);
  assertEquals([4, 1, 2, 3, 5].map((failures) => next(limiter, failures)), [3000, 5, 5, 5, 3000]);
  const mixed = createMaxOfLimiter(createExponentialLimiter({ baseDelay: 1, maxDelay: 100 }), new Recorder(6));
  assertEquals([1, 3, 4].map((failures) => next(mixed, failures)), [6, 6, 8]);
  assertEquals(next(createMaxOfLimiter(new NextRecorder(-5)), 1), 0);
});

Deno.test("max-of: a failure that one of the limiters does not count is not counted", () => {
  const [ignoring, other] = [new NextRecorder(NOT_COUNTED), new NextRecorder(5)];
  for (const limiters of [[ignoring], [ignoring, other], [other, ignoring], [other, ignoring, other]]) {
    assertEquals(createMaxOfLimiter(...limiters).next!(1, "a", "a", RETRY), NOT_COUNTED);
  }
});
