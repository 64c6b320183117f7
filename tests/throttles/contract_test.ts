/** Suite of all built-in throttles: permits are never more than allowed, and those who wait for them are woken up. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  createExponentialLimiter,
  createRateLimitingQueue,
  runWorkers,
  type Throttle,
  throttles,
} from "@workqueue/core";
import {
  createAimdThrottle,
  createAllOfThrottle,
  createBreakerThrottle,
  createBucketThrottle,
  createConcurrencyThrottle,
  createGradientThrottle,
} from "@workqueue/core/throttles";
import { HandClock } from "../helpers.ts";
import { flush } from "../queue_helpers.ts";
import { begin, result } from "./helpers.ts";

/** Each throttle in a state in which it grants two permits and then refuses. */
const TWO: Readonly<Record<string, (clock: HandClock) => Throttle>> = {
  bucket: (clock) => createBucketThrottle({ rate: 0, burst: 2, clock }),
  concurrency: (clock) => createConcurrencyThrottle({ limit: 2, clock }),
  aimd: (clock) => createAimdThrottle({ min: 2, max: 2, clock }),
  gradient: (clock) => createGradientThrottle({ min: 2, max: 2, clock }),
  breaker: (clock) => {
    const breaker = createBreakerThrottle({ minAttempts: 1, openFor: 1, probes: 2, clock });
    begin(breaker).end(result("failed"));
    clock.time += 1;
    return breaker;
  },
  "all-of": (clock) =>
    createAllOfThrottle(
      createConcurrencyThrottle({ limit: 2, clock }),
      createConcurrencyThrottle({ limit: 3, clock }),
      createBucketThrottle({ rate: 0, burst: 5, clock }),
    ),
};

Deno.test("throttles: each type is here", () => assertEquals(Object.keys(TWO).sort(), throttles.types().sort()));

for (const [type, make] of Object.entries(TWO)) {
  Deno.test(`throttle ${type}: a permit that is not used is free again, and wakes up nobody`, () => {
    const clock = new HandClock();
    const throttle = make(clock);
    let changes = 0;
    const end = throttle.onChange!(() => changes++);
    for (let i = 0; i < 10; i++) {
      const permits = [begin(throttle), throttle.acquire()];
      assertEquals(typeof throttle.acquire(), "number");
      for (const permit of permits) {
        assert(typeof permit !== "number");
        permit.end(result("unused", 0));
      }
    }
    assertEquals(changes, 0);
    end();
  });

  Deno.test(`throttle ${type}: pools that share it stay within it, and work through their queues`, async () => {
    const clock = new HandClock();
    const throttle = type === "bucket" ? createBucketThrottle({ rate: 100, burst: 2, clock }) : make(clock);
    let [running, most, done] = [0, 0, 0];
    const pools = [1, 2, 3].map(() => {
      const limiter = createExponentialLimiter({ baseDelay: 1, maxDelay: 1 });
      const queue = createRateLimitingQueue<number>(limiter, { clock });
      const pool = runWorkers(queue, async () => {
        most = Math.max(most, ++running);
        await new Promise<void>((resolve) => clock.setTimeout(resolve, 5));
        running--;
        done++;
      }, { throttle, concurrency: 4 });
      for (let i = 0; i < 5; i++) queue.add(i);
      return pool;
    });
    await flush();
    assertEquals(running, 2);
    for (let i = 0; i < 200; i++) {
      await clock.advance(5);
      await flush();
    }
    const allowed = type === "all-of" ? 5 : 15;
    assertEquals(done, allowed);
    assert(most <= (type === "breaker" ? 12 : 2), `${most} at once`);
    await Promise.all(pools.map((pool) => pool.stop()));
    assertEquals(clock.timers, 0);
  });
}

Deno.test("throttles: bad options are refused with their name", () => {
  const refused: [() => unknown, string][] = [
    [
      () => createConcurrencyThrottle({ limit: 0 }),
      "Cannot create concurrency throttle: 'limit' must be a positive integer",
    ],
    [() => createConcurrencyThrottle({} as never), "missing required option 'limit'"],
    [() => createAimdThrottle({ min: 5, max: 4 }), "Cannot create aimd throttle: 'max' must not be less than 'min'"],
    [() => createAimdThrottle({ min: 2, max: 4, initial: 1 }), "'initial' must be between 'min' and 'max'"],
    [() => createAimdThrottle({ max: 4, decrease: 1 }), "'decrease' must be a number from 0.1 to 0.99"],
    [() => createGradientThrottle({ max: 4, smoothing: 0 }), "'smoothing' must be a number from 0.001 to 1"],
    [() => createBreakerThrottle({ failureRatio: 2 }), "'failureRatio' must be a number from 0.001 to 1"],
    [() => createBreakerThrottle({ openFor: "soon" }), "'openFor'"],
    [() => createBreakerThrottle({ opnFor: 1 } as never), 'did you mean "openFor"?'],
    [() => createBucketThrottle({ rate: -1, burst: 1 }), "'rate' must be a non-negative number"],
    [() => createAllOfThrottle(), "Cannot create all-of throttle"],
    [() => createAllOfThrottle({} as never), "throttle"],
  ];
  for (const [attempt, message] of refused) assertThrows(attempt, Error, message);
});
