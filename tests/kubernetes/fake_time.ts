/** Steps of fake time, for tests of caches, controllers and leases with a cluster in this process. */

import { assert } from "@std/assert";
import type { FakeTime } from "@std/testing/time";
import { flush } from "../queue_helpers.ts";

/** Lets everything happen that needs no time. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await flush();
}

/** Lets some milliseconds pass, in steps. */
export async function pass(time: FakeTime, ms: number, step = 100): Promise<void> {
  for (let left = ms; left > 0; left -= step) {
    time.tick(Math.min(step, left));
    await settle();
  }
}

/** Lets time pass until a condition holds. Returns the milliseconds that passed. Fails if it takes too long. */
export async function until(time: FakeTime, holds: () => boolean, { within = 5000, step = 20 } = {}): Promise<number> {
  await settle();
  let passed = 0;
  for (; !holds(); passed += step) {
    assert(passed < within, `the condition holds within ${within} ms`);
    time.tick(step);
    await settle();
  }
  return passed;
}
