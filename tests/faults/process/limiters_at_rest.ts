/** Script that runs many keys and groups through limiters. The script prints the heap growth in bytes. */

import {
  createBucketLimiter,
  createExponentialLimiter,
  createPerGroupLimiter,
  type RateLimiter,
} from "../../../mod.ts";
import { FLAT_WORDS, growthSince, heapUsed } from "./collect.ts";

const KEYS = 100_000;

let now = 0;
const clock = { now: () => now, setTimeout: () => 0, clearTimeout() {} };

const limiters: RateLimiter<string>[] = [
  createExponentialLimiter({ baseDelay: 10, maxDelay: 1000, forgetAfter: 90, clock }),
  createPerGroupLimiter({ separator: "/", limiter: () => createBucketLimiter({ rate: 10, burst: 1, clock }) }),
  createPerGroupLimiter({
    separator: "/",
    limiter: () => createExponentialLimiter({ baseDelay: 10, maxDelay: 1000, forgetAfter: 90, clock }),
  }),
];

/**
 * Reports the failure of a new key every 10 ms, so that about ten keys are delayed or counted at a time. Never calls
 * `forget`.
 */
function fail(keys: number): void {
  for (let i = 0; i < keys; i++) {
    now += 10;
    for (const limiter of limiters) limiter.when(`group-${now}/key`);
  }
}

fail(10_000); // warm-up, because one-time allocations are not leaks
const before = await heapUsed();
fail(KEYS);
console.log(await growthSince(before, FLAT_WORDS));
console.log(limiters.map((limiter) => limiter.numRequeues(`group-${now}/key`)).join());
