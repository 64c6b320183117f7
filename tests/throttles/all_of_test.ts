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

Deno.test("all-of: a throttle that is given twice counts once", async () => {
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

