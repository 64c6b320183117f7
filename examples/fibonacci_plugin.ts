/**
 * A plugin that registers a limiter, so that a config can use the limiter like a built-in one. A program loads the
 * plugin with `registry.use(fibonacciPlugin)`; the command loads it with `--plugin examples/fibonacci_plugin.ts`.
 *
 * The delays follow the Fibonacci numbers: 1, 1, 2, 3, 5 units of time, and so on. The delays grow faster than linear
 * delays and more slowly than exponential delays.
 */

import { defineLimiter, type LimiterRegistry } from "@workqueue/core";

const fibonacci = defineLimiter({
  type: "fibonacci",
  description: "Delays an item by Fibonacci numbers of units: 1, 1, 2, 3, 5 and so on.",
  options: {
    unit: { kind: "duration", min: 1, default: "1s", description: "Delay after an item's first failure." },
    maxDelay: { kind: "duration", description: "Maximum delay, regardless of the number of failures." },
  },
  check: ({ unit, maxDelay }) =>
    maxDelay < unit ? { option: "maxDelay", rule: `must not be less than 'unit' (${unit} ms)` } : undefined,
  create(options) {
    let { unit, maxDelay } = options;
    const failures = new Map<unknown, number>();
    const count = (key: unknown) => failures.get(key) ?? 0;
    const next = (failures: number) => {
      let [delay, following] = [unit, unit];
      for (let i = 1; i < failures && delay < maxDelay; i++) [delay, following] = [following, delay + following];
      return Math.min(delay, maxDelay);
    };
    return {
      next, // called by queues, which count the failures themselves
      when(item, key = item) {
        failures.set(key, count(key) + 1);
        return next(count(key));
      },
      forget: (item, key = item) => void failures.delete(key),
      numRequeues: (item, key = item) => count(key),
      change: (options: { unit: number; maxDelay: number }) => void ({ unit, maxDelay } = options),
    };
  },
  update: (limiter, options) => limiter.change(options), // reloading the config keeps the counts
});

/** Plugin for `registry.use`. */
export function fibonacciPlugin(registry: LimiterRegistry): void {
  registry.register(fibonacci);
}

/** Plugin for the command. */
export default ({ limiters }: { limiters: LimiterRegistry }): LimiterRegistry => limiters.use(fibonacciPlugin);
