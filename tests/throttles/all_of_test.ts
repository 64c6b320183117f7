/** Throttles that combine others. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  createExponentialLimiter,
  createRateLimitingQueue,
  type RateLimitingQueue,
  runWorkers,
  type Throttle,
  TokenBucket,
} from "@workqueue/core";
import { createAllOfThrottle, createConcurrencyThrottle } from "@workqueue/core/throttles";
import { HandClock } from "../helpers.ts";
import { flush } from "../queue_helpers.ts";
import { begin, result } from "./helpers.ts";

function newQueue(clock: HandClock, items = 0): RateLimitingQueue<number> {
  const queue = createRateLimitingQueue<number>(createExponentialLimiter({ baseDelay: 1, maxDelay: 1 }), { clock });
  for (let item = 0; item < items; item++) queue.add(item);
  return queue;
}

/** Throttle whose methods throw if they are named. */
function throwing(...methods: readonly ("acquire" | "end")[]): Throttle {
  const fail = (method: "acquire" | "end") => {
    if (methods.includes(method)) throw new Error(method);
  };
  return {
    acquire() {
      fail("acquire");
      return { begin() {}, charge() {}, end: () => fail("end") };
    },
  };
}

Deno.test("all-of: a throttle that throws leaks no permits of the others", () => {
  for (const method of ["acquire", "end"] as const) {
    const slots = createConcurrencyThrottle({ limit: 1 });
    for (const throttles of [[slots, throwing(method)], [throwing(method), slots]]) {
      const throttle = createAllOfThrottle(...throttles);
      assertThrows(() => begin(throttle).end(result("succeeded")), Error, method);

      assertEquals(slots.snapshot!().inUse, 0);
    }
  }
  const slots = createConcurrencyThrottle({ limit: 1 });
  const full: Throttle = { acquire: () => Infinity };
  assertThrows(() => createAllOfThrottle(throwing("end"), slots, full).acquire(), Error, "end");
  assertEquals(slots.snapshot!().inUse, 0);
});

Deno.test("all-of: a throttle that is listed twice counts once", async () => {
  const clock = new HandClock();
  const slots = createConcurrencyThrottle({ limit: 1 });
  const done: number[] = [];
  const pool = runWorkers(newQueue(clock, 3), (item) => void done.push(item), {
    throttle: createAllOfThrottle(slots, slots),
    clock,
  });
  await flush();
  assertEquals(done, [0, 1, 2]);
  await pool.stop();
});

Deno.test("all-of: pools don't wait for a throttle that other pools can't use because of another throttle", async () => {
  for (const isPaused of [true, false]) {
    const clock = new HandClock();
    const bucket = new TokenBucket(100, 1, { clock });
    bucket.allow();
    const slow = new TokenBucket(1, 1, { clock });
    const slots = createConcurrencyThrottle({ limit: 1 });
    const permit = begin(slots);
    if (isPaused) slow.pauseFor("1h");
    const attempts = [0, 0];
    const pools = [createAllOfThrottle(bucket, isPaused ? slow : slots), bucket].map((throttle, i) =>
      runWorkers(newQueue(clock, 10_000), () => void attempts[i]!++, { throttle, clock, concurrency: 2 })
    );
    await flush();
    await clock.advance(10_000);
    assert(attempts[1]! > 980, `${attempts}`);
    assertEquals(attempts[0], 0);
    permit.end(result("succeeded"));
    slow.resume();
    await flush();
    await clock.advance(1000);
    assert(attempts[0]! > 0, `${attempts}`);
    await Promise.all(pools.map((pool) => pool.stop()));
    assertEquals(clock.timers, 0);
  }
});

Deno.test("all-of: a slow throttle of one pool does not slow down pools that don't have it", async () => {
  const clock = new HandClock();
  const [fast, slow] = [new TokenBucket(100, 1, { clock }), new TokenBucket(1, 1, { clock })];
  const attempts = [0, 0];
  const pools = [createAllOfThrottle(fast, slow), fast].map((throttle, i) =>
    runWorkers(newQueue(clock, 10_000), () => void attempts[i]!++, { throttle, clock })
  );
  await flush();
  await clock.advance(10_000);
  assert(attempts[0]! >= 10 && attempts[1]! > 950, `${attempts}`);
  await Promise.all(pools.map((pool) => pool.stop()));
});

Deno.test("all-of: a pool that no longer needs its turn leaves the lines of all throttles", async () => {
  const clock = new HandClock();
  const bucket = new TokenBucket(10, 1, { clock });
  bucket.allow();
  const slots = createConcurrencyThrottle({ limit: 1 });
  const permit = begin(slots);
  const [first, second] = [newQueue(clock, 1), newQueue(clock, 1)];
  const pools = [runWorkers(first, () => {}, { throttle: createAllOfThrottle(bucket, slots), clock })];
  await flush();
  let attempts = 0;
  pools.push(runWorkers(second, () => void attempts++, { throttle: bucket, clock }));
  await flush();
  first.tryGet(); // by another consumer, just as a slot becomes free
  permit.end(result("succeeded"));
  await clock.advance(1000);
  assertEquals(attempts, 1);
  await Promise.all(pools.map((pool) => pool.stop()));
  assertEquals(bucket.tokens, 1);
});
