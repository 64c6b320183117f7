/**
 * The names under which objects of this package know each other: registered symbols, so that they are the same in two
 * copies of the package that one program has loaded.
 */

/** Marks errors: the item whose handler throws one is given up at once. */
export const TERMINAL: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.terminal");

/**
 * Where an entry of a queue has room for a number, by which the discipline finds it again. Without it, it needs a map.
 */
export const SEAT: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.seat");

/** How long the item whose handler throws the error has to wait at least, in milliseconds. */
export const RETRY_AFTER: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.retryAfter");

/** Where a queue has its `QueueHooks`. */
export const HOOKS: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.hooks");

/** True of a queue whose adds take options: a priority. */
export const OPTIONS: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.options");

/** Where a token bucket has the function that says who wants to hear of changes: see `onBucketChange`. */
export const ON_CHANGE: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.onChange");

/** Where a reservation has the function that gives back tokens that were not used: see `giveBackUnused`. */
export const GIVE_BACK: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.giveBack");

/** Where the `create` of a built-in limiter's definition has the version of what it makes: see `builtIn`. */
export const BUILT_IN: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.builtIn");

/** Where a queue has the function that opens a `WorkSource` for a pool. */
export const SOURCE: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.source");

/** Where a queue or a pool has the function that gives its `Totals`. */
export const TOTALS: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.totals");
