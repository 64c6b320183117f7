/** Benchmarks of the limiters. Each retry costs one call to the limiter. */

import {
  createBucketLimiter,
  createDefaultControllerLimiter,
  createExponentialLimiter,
  createFastSlowLimiter,
  type RateLimiter,
} from "@workqueue/core";
import { distinctKeys } from "./keys.ts";
import { StillClock } from "./still_clock.ts";

const KEYS = distinctKeys(1000);
const group = "100,000 failures of 1,000 keys";

function failOften(limiter: RateLimiter): void {
  for (let i = 0; i < 100; i++) for (const key of KEYS) limiter.when(key);
}

Deno.bench("Map: get, set", { group, baseline: true }, () => {
  const counts = new Map<string, number>();
  for (let i = 0; i < 100; i++) for (const key of KEYS) counts.set(key, (counts.get(key) ?? 0) + 1);
});

Deno.bench("a look at the clock", { group }, () => {
  for (let i = 0; i < 100; i++) for (const _ of KEYS) performance.now();
});

Deno.bench("exponential", { group }, () => failOften(createExponentialLimiter({ baseDelay: 5, maxDelay: 1_000_000 })));

Deno.bench("fast-slow", { group }, () => {
  failOften(createFastSlowLimiter({ fastDelay: 5, slowDelay: 10_000, maxFastAttempts: 4 }));
});

Deno.bench("bucket", { group }, () => failOften(createBucketLimiter({ rate: 10, burst: 100 })));

Deno.bench("default controller", { group }, () => failOften(createDefaultControllerLimiter()));

Deno.bench("default controller, with a clock that costs nothing", { group }, () => {
  failOften(createDefaultControllerLimiter({ clock: new StillClock() }));
});
