/**
 * Symbols that let objects of this package recognize each other. The symbols are in the global symbol registry, so all
 * copies of the package that a program loads share them.
 */

/**
 * Key of the property that marks an error as terminal. If a handler throws a marked error, the item is given up at
 * once.
 */
export const TERMINAL: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.terminal");

/**
 * Key of an error's minimum delay, in milliseconds. If a handler throws an error with this property, the handler's item
 * is delayed for at least that long.
 */
export const RETRY_AFTER: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.retryAfter");

/** Result of a limiter's `next` for a failure that is not counted. */
export const NOT_COUNTED: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.notCounted");

/** Key of a queue's property that displays inspect: see `InspectedQueue`. */
export const INSPECTION: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.inspection");

/** Key of the function that subscribes to a token bucket's changes: see `onBucketChange`. */
export const ON_CHANGE: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.onChange");

/** Key of a token bucket's function that returns the bucket as a `Throttle`. */
export const THROTTLE: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.throttle");

/**
 * Key of a throttle's function that opens its gate for a pool: see `OpenGate`. The number is the version of `Gate` and
 * `GatedPool`, because the pool and the throttle may be of different copies of the package.
 */
export const GATE: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.gate.1");

/** Key of the version number on the functions of built-in definitions: see `builtIn`. */
export const BUILT_IN: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.builtIn");

/** Key of a queue's function that opens a `WorkSource` for a pool. */
export const SOURCE: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.source");

/** Key of a pool's function that adds a `FailureWatcher`. */
export const FAILURES: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.failures");

/** Key of a metrics provider's `Measuring`, the code that measures queues and pools. The number is its version. */
export const METRICS: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.metrics.1");

/** Key of a pool's function that returns its `Totals`. */
export const TOTALS: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.totals");

/**
 * Gives an object a brand. The property is not listed and can't be changed. A brand is not a class member, because
 * bundlers would then keep the class even if nothing uses it.
 */
export function setBrand(object: object, brand: symbol, value: unknown): void {
  // Without a prototype, because other code may have put a `get` on `Object.prototype`.
  Object.defineProperty(object, brand, { __proto__: null, value } as PropertyDescriptor);
}

/**
 * Does the same as {@linkcode setBrand}, but the property is configurable, so that a proxy of the object may return
 * another value.
 */
export function setReplaceableBrand(object: object, brand: symbol, value: unknown): void {
  Object.defineProperty(object, brand, { __proto__: null, value, configurable: true } as PropertyDescriptor);
}
