/** The limiters that run what holds of every limiter: the built-in ones, as their docs show them, and others. */

import {
  createDefaultControllerLimiter,
  createDefaultItemLimiter,
  createExponentialLimiter,
  createMaxOfLimiter,
  createMaxWaitLimiter,
  createPerGroupLimiter,
  limiters,
  type RateLimiter,
} from "@workqueue/core";
import { builtIns } from "../../docs/generate/built_ins.ts";
import { fibonacciPlugin } from "../../examples/fibonacci_plugin.ts";
import { testLimiter } from "./limiter_suite.ts";

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
testLimiter("the controllers' default", ({ clock }) => createDefaultControllerLimiter({ clock }));
testLimiter("the items' default", createDefaultItemLimiter);

/** One of somebody else's, which counts in a map of its own. */
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

testLimiter("one of somebody else's", () => new Linear());
testLimiter(
  "one of somebody else's in built-in ones",
  () =>
    createMaxOfLimiter(createExponentialLimiter({ baseDelay: 1, maxDelay: 9 }), createMaxWaitLimiter(new Linear(), 5)),
);
