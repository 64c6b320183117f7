import {
  createBucketLimiter,
  createDefaultControllerLimiter,
  createExponentialLimiter,
  createFastSlowLimiter,
  type RateLimiter,
} from "@workqueue/core";
import { StillClock } from "../still_clock.ts";
import type { Case, Groups } from "./case.ts";

/** Failures of each key. One hundredth of the keys fail, so there are as many failures as keys. */
const FAILURES = 100;

const keysThatFail = (keys: readonly string[]) => keys.slice(0, keys.length / FAILURES);

function failOften(limiter: RateLimiter, keys: readonly string[]): void {
  for (let i = 0; i < FAILURES; i++) for (const key of keys) limiter.when(key);
}

const failing = (create: () => RateLimiter): Case => (all) => {
  const keys = keysThatFail(all);
  return () => failOften(create(), keys);
};

/** Cases of the limiters. Each retry costs one call to the limiter. */
export const limiterCases: Groups = {
  "100,000 failures of 1,000 keys": {
    "Map: get, set": (all) => {
      const keys = keysThatFail(all);
      return () => {
        const counts = new Map<string, number>();
        for (let i = 0; i < FAILURES; i++) for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
      };
    },
    "a look at the clock": ({ length }) => () => {
      let sum = 0;
      for (let i = 0; i < length; i++) sum += performance.now();
      return sum;
    },
    "exponential": failing(() => createExponentialLimiter({ baseDelay: 5, maxDelay: 1_000_000 })),
    "fast-slow": failing(() => createFastSlowLimiter({ fastDelay: 5, slowDelay: 10_000, maxFastAttempts: 4 })),
    "bucket": failing(() => createBucketLimiter({ rate: 10, burst: 100 })),
    "default controller": failing(() => createDefaultControllerLimiter()),
    "default controller, with a clock that costs nothing": failing(() =>
      createDefaultControllerLimiter({ clock: new StillClock() })
    ),
  },
};
