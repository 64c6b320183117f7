/** Contract suites for built-in limiters, created as in the examples in their docs, and for other limiters. */

import {
  createDefaultControllerLimiter,
  createDefaultItemLimiter,
  createExponentialLimiter,
  createMaxOfLimiter,
  createMaxWaitLimiter,
  createPerGroupLimiter,
  type LimiterConfig,
  limiters,
  type RateLimiter,
} from "@workqueue/core";
import { builtIns } from "../../docs/generate/built_ins.ts";
import { fibonacciPlugin } from "../../examples/fibonacci_plugin.ts";
import { decorrelatedLimiter } from "./decorrelated_limiter.ts";
import { testLimiter } from "./limiter_suite.ts";
import { testLimiterUpdate, type UpdateTraits } from "./limiter_update_suite.ts";

for (const { example } of builtIns) {
  const keysAreTexts = "separator" in example;
  testLimiter(`${example.type} of a config`, (context) => limiters.build(example, context), { keysAreTexts });
}
testLimiter("a backoff for each group", () =>
  createPerGroupLimiter({
    groupOf: () => "all",
    limiter: () => createExponentialLimiter({ baseDelay: 1, maxDelay: 9 }),
  }));
testLimiter(
  "one of a plugin",
  () => limiters.extend().use(fibonacciPlugin).build({ type: "fibonacci", maxDelay: "1h" }),
);
const withDecorrelated = limiters.extend().register(decorrelatedLimiter);
const decorrelated = { type: "decorrelated", baseDelay: 10, maxDelay: 500 } as const;
testLimiter("one that remembers its last delay", (context) => withDecorrelated.build(decorrelated, context));
testLimiter("the controllers' default", ({ clock }) => createDefaultControllerLimiter({ clock }));
testLimiter("the items' default", createDefaultItemLimiter);

/** Third-party limiter that counts in its own map. */
class Linear implements RateLimiter {
  readonly #counts = new Map<unknown, number>();

  when(item: unknown, key: unknown = item): number {
    const count = this.numRequeues(item, key) + 1;
    this.#counts.set(key, count);
    return count * 1000;
  }

  forget(item: unknown, key: unknown = item): void {
    this.#counts.delete(key);
  }

  numRequeues(item: unknown, key: unknown = item): number {
    return this.#counts.get(key) ?? 0;
  }
}

testLimiter("a third-party limiter", () => new Linear());
testLimiter(
  "a third-party limiter in built-in ones",
  () =>
    createMaxOfLimiter(createExponentialLimiter({ baseDelay: 1, maxDelay: 9 }), createMaxWaitLimiter(new Linear(), 5)),
);

const backoff = { type: "exponential", baseDelay: 10, maxDelay: 500 } as const;
const bucket = { type: "bucket", rate: 4, burst: 2 } as const;

/** Changes to the config of each built-in limiter. The suite tests each change in both directions. */
const CHANGES: {
  [Type in (typeof builtIns)[number]["example"]["type"]]: [what: string, LimiterConfig, LimiterConfig, UpdateTraits?][];
} = {
  "bucket": [
    ["its rate", bucket, { ...bucket, rate: 9 }],
    ["its burst", bucket, { ...bucket, burst: 7 }],
    ["to no bound", bucket, { ...bucket, rate: Infinity }],
  ],
  "exponential": [
    ["its delays", backoff, { ...backoff, baseDelay: 1, maxDelay: 900 }],
  ],
  "fast-slow": [
    [
      "all of it",
      { type: "fast-slow", fastDelay: 1, slowDelay: 50, maxFastAttempts: 2 },
      { type: "fast-slow", fastDelay: 3, slowDelay: 70, maxFastAttempts: 4 },
    ],
  ],
  "ignore-early": [
    [
      "its limiter",
      { type: "ignore-early", limiter: backoff },
      { type: "ignore-early", limiter: { ...backoff, baseDelay: 7 } },
    ],
  ],
  "jitter": [
    [
      "its spread and its limiter",
      { type: "jitter", spread: 0.5, limiter: backoff },
      { type: "jitter", spread: 1, limiter: { ...backoff, baseDelay: 3 } },
    ],
  ],
  "max-of": [
    [
      "the figures of its limiters",
      { type: "max-of", limiters: [backoff, bucket] },
      { type: "max-of", limiters: [{ ...backoff, baseDelay: 20 }, { ...bucket, rate: 1 }] },
    ],
    [
      "its limiters",
      { type: "max-of", limiters: [backoff, bucket] },
      {
        type: "max-of",
        limiters: [{ ...backoff, maxDelay: 700 }, { type: "max-wait", maxDelay: 80, limiter: bucket }],
      },
    ],
  ],
  "max-wait": [
    [
      "its maximum and its limiter",
      { type: "max-wait", maxDelay: 100, limiter: backoff },
      { type: "max-wait", maxDelay: 30, limiter: { ...backoff, baseDelay: 5 } },
    ],
  ],
  "per-group": [
    [
      "the figures of its groups",
      { type: "per-group", separator: "/", limiter: backoff },
      { type: "per-group", separator: "/", limiter: { ...backoff, baseDelay: 7 } },
    ],
    [
      "the buckets of its groups",
      { type: "per-group", separator: "/", limiter: { type: "max-of", limiters: [backoff, bucket] } },
      { type: "per-group", separator: "/", limiter: { type: "max-of", limiters: [backoff, { ...bucket, burst: 5 }] } },
    ],
  ],
  "steps": [
    ["its delays", { type: "steps", delays: [5, 50, 500] }, { type: "steps", delays: [7, 70] }],
  ],
};
for (const [type, changes] of Object.entries(CHANGES)) {
  for (const [what, ...change] of changes) testLimiterUpdate(`${type} of which changes ${what}`, ...change);
}
const withPlugin = limiters.extend().use(fibonacciPlugin);
testLimiterUpdate(
  "one of a plugin",
  withPlugin.describe({ type: "fibonacci", maxDelay: "1h" }),
  withPlugin.describe({ type: "fibonacci", unit: 70, maxDelay: "1s" }),
);
testLimiterUpdate(
  "one that remembers its last delay",
  withDecorrelated.describe(decorrelated),
  withDecorrelated.describe({ ...decorrelated, baseDelay: 40, maxDelay: 100 }),
  { remembersDelays: true },
);
