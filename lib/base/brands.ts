/**
 * Symbols by which objects of this package recognize each other. They are registered, so they are the same in all
 * copies of the package that a program loads.
 */

/** Key of a mark on errors. If a handler throws a marked error, the item is given up at once. */
export const TERMINAL: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.terminal");

/**
 * Key of a number in a queue's entry that a discipline uses to find the entry. Without it, a discipline needs a map.
 */
export const SEAT: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.seat");

/** Key of an error's minimum delay, in milliseconds. If a handler throws the error, the item is retried no sooner. */
export const RETRY_AFTER: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.retryAfter");

/** Key of a queue's `QueueHooks`. */
export const HOOKS: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.hooks");

/** Key of a mark, `true`, on queues whose `add` accepts options such as a priority. */
export const OPTIONS: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.options");

/** Key of a token bucket's function that subscribes to changes: see `onBucketChange`. */
export const ON_CHANGE: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.onChange");

/** Key of a reservation's function that returns unused tokens: see `giveBackUnused`. */
export const GIVE_BACK: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.giveBack");

/** Key of the version number on a built-in limiter's `create` function: see `builtIn`. */
export const BUILT_IN: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.builtIn");

/** Key of a queue's function that opens a `WorkSource` for a pool. */
export const SOURCE: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.source");

/** Key of a queue's or pool's function that returns its `Totals`. */
export const TOTALS: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.totals");
