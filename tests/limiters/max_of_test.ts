import { assertEquals, assertThrows } from "@std/assert";
import {
  createDefaultItemLimiter,
  createExponentialLimiter,
  createFastSlowLimiter,
  createMaxOfLimiter,
  type RateLimiter,
} from "@workqueue/core";
import { delays, Recorder } from "./helpers.ts";

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
