import { assertEquals, assertThrows } from "@std/assert";
import {
  createDefaultControllerLimiter,
  createDefaultItemLimiter,
  createExponentialLimiter,
  createFastSlowLimiter,
  createMaxOfLimiter,
  createMaxWaitLimiter,
  createPerGroupLimiter,
  createRateLimitingQueue,
  createStepsLimiter,
  type RateLimiter,
} from "@workqueue/core";

Deno.test("rule 8: limiters count by the key, or by the item if no key is given", () => {
  const cases: [name: string, limiter: RateLimiter<object | string>, delays: number[]][] = [
    ["exponential", createExponentialLimiter({ baseDelay: 1, maxDelay: 100 }), [1, 2, 4]],
    ["fast-slow", createFastSlowLimiter({ fastDelay: 1, slowDelay: 9, maxFastAttempts: 2 }), [1, 1, 9]],
    ["steps", createStepsLimiter({ delays: [3, 7, 5] }), [3, 7, 5]],
    ["max-of", createMaxOfLimiter(createExponentialLimiter({ baseDelay: 1, maxDelay: 100 })), [1, 2, 4]],
    ["max-wait", createMaxWaitLimiter(createExponentialLimiter({ baseDelay: 1, maxDelay: 100 }), 3), [1, 2, 3]],
    ["item default", createDefaultItemLimiter(), [1, 2, 4]],
    ["controller default", createDefaultControllerLimiter(), [5, 10, 20]],
  ];
  for (const [name, limiter, [first, second, third]] of cases) {
    // The same key, with a new object at each call.
    assertEquals(limiter.when({ id: 1 }, "one"), first!, name);
    assertEquals(limiter.when({ id: 1 }, "one"), second!, name);
    assertEquals(limiter.when({ id: 2 }, "two"), first!, name);
    assertEquals(limiter.when("one"), third!, `${name}: an item that is the key`);
    assertEquals(limiter.numRequeues({}, "one"), 3, name);
    limiter.forget({}, "one");
    assertEquals(limiter.numRequeues("one"), 0, name);
    assertEquals(limiter.numRequeues({}, "two"), 1, name);
    // Without a key, items are compared by identity.
    const item = {};
    limiter.when(item);
    assertEquals([limiter.numRequeues(item), limiter.numRequeues({})], [1, 0], name);
    limiter.forget(item);
    assertEquals(limiter.numRequeues(item), 0, name);
  }
});

Deno.test("keys are compared as in a Map, whatever their names", () => {
  const limiter = createExponentialLimiter({ baseDelay: 1, maxDelay: 100 });
  for (const key of ["__proto__", "constructor", "toString", "", 0, NaN, null, 1, "1", false]) {
    assertEquals(limiter.numRequeues("item", key), 0);
    assertEquals([limiter.when("item", key), limiter.when("item", key)], [1, 2]);
    assertEquals(limiter.numRequeues("item", key), 2);
  }
});

Deno.test("rule 8: a missing key has no separator, and the error says so", () => {
  const limiter = createPerGroupLimiter({ separator: "/", limiter: createDefaultItemLimiter });
  const queue = createRateLimitingQueue<{ uid?: string }>(limiter, { keyOf: ({ uid }) => uid });
  assertThrows(() => queue.addRateLimited({}), TypeError, "must be a string to have a 'separator', got undefined");
});
