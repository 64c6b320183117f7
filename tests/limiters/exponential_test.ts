import { assert, assertEquals } from "@std/assert";
import { createExponentialLimiter } from "@workqueue/core";
import { delays } from "./helpers.ts";

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
  limiter.forget("three"); // never failed
});

Deno.test("exponential: stops at the maximum delay", () => {
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

Deno.test("exponential: without a base delay, nothing is delayed, however often an item fails", () => {
  const limiter = createExponentialLimiter({ baseDelay: 0, maxDelay: 1000 });
  assertEquals(delays(limiter, "a", 3000), new Array(3000).fill(0));
  assertEquals(delays(createExponentialLimiter({ baseDelay: 0, maxDelay: 0 }), "a", 2), [0, 0]);
});
