import { assert, assertEquals, assertFalse } from "@std/assert";
import {
  createExponentialLimiter,
  createFastSlowLimiter,
  createJitterLimiter,
  createStepsLimiter,
  type RateLimiter,
} from "@workqueue/core";
import { HandClock } from "../helpers.ts";

const backoff = { baseDelay: 10, maxDelay: 10_000 };
const limiters: Record<string, () => RateLimiter> = {
  "exponential, lasting": () => createExponentialLimiter(backoff),
  "exponential, forgetting": () => createExponentialLimiter({ ...backoff, forgetAfter: "1h", clock: new HandClock() }),
  "fast-slow": () => createFastSlowLimiter({ fastDelay: 10, slowDelay: 20, maxFastAttempts: 1 }),
  "steps": () => createStepsLimiter({ delays: [10, 20, 40] }),
  "jitter": () => createJitterLimiter(createExponentialLimiter(backoff), { spread: 0 }),
};

for (const [name, create] of Object.entries(limiters)) {
  Deno.test(`uncount, ${name}: the last failure of the key counts no more, and the next one gets its delay`, () => {
    const limiter = create();
    assertEquals([limiter.when("a"), limiter.when("a"), limiter.when("b")], [10, 20, 10]);
    limiter.uncount!("a");
    assertEquals([limiter.numRequeues("a"), limiter.numRequeues("b")], [1, 1]);
    assertEquals(limiter.when("a"), 20);
  });

  Deno.test(`uncount, ${name}: a key without failures is as if it had never failed`, () => {
    const limiter = create();
    limiter.when("a");
    limiter.when("b");
    limiter.uncount!("a");
    limiter.uncount!("a");
    limiter.uncount!("unknown");
    assertEquals([limiter.numRequeues("a"), limiter.numRequeues("unknown")], [0, 0]);
    assertFalse(limiter.atRest!());
    limiter.uncount!("b");
    assert(limiter.atRest!());
    assertEquals(limiter.when("a"), 10);
  });
}
