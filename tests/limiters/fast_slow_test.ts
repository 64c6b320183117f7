import { assertEquals } from "@std/assert";
import { createFastSlowLimiter } from "@workqueue/core";
import { delays } from "./helpers.ts";

Deno.test("fast-slow: the first failures have a short delay, and further ones a long one", () => {
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

Deno.test("fast-slow: with no fast attempts, the first failure is slow, and thousands change nothing", () => {
  const limiter = createFastSlowLimiter({ fastDelay: 5, slowDelay: 60, maxFastAttempts: 0 });
  assertEquals(delays(limiter, "a", 5000), new Array(5000).fill(60));
  assertEquals(limiter.numRequeues("a"), 5000);
});

Deno.test("fast-slow: the fast delay may be longer than the slow delay", () => {
  const limiter = createFastSlowLimiter({ fastDelay: 60, slowDelay: 5, maxFastAttempts: 1 });
  assertEquals(delays(limiter, "a", 3), [60, 5, 5]);
});
