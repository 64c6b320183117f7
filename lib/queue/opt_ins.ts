import { METRICS } from "../base/brands.ts";
import type { MetricsProvider } from "../contracts/metrics.ts";
import type { Measuring } from "../metrics/adapt_metrics.ts";

/**
 * Symbols through which options bring the code of a feature, so that other programs don't contain it. The symbols are
 * not in the global registry, because the queue and the option must be of one copy of the package.
 */

/** Key of a discipline's function that gives a queue its ordering. */
export const ORDER: unique symbol = /* @__PURE__ */ Symbol();

/** Key of a retry budget's function that adds the budget to a queue. */
export const RETRIES: unique symbol = /* @__PURE__ */ Symbol();

/** Key of the function of a given-up store that creates a queue with this store. */
export const KEEPER: unique symbol = /* @__PURE__ */ Symbol();

/** Returns the code that a metrics provider brings. */
export function measuringOf(provider: MetricsProvider): Measuring {
  return (provider as unknown as { [METRICS]: Measuring })[METRICS];
}

/** Reports whether an option brings code by a symbol. */
export function brings(value: unknown, symbol: symbol): boolean {
  return typeof (value as Record<symbol, unknown> | null | undefined)?.[symbol] === "function";
}
