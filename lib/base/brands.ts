/**
 * The names under which objects of this package know each other: registered symbols, so that they are the same in two
 * copies of the package that one program has loaded. What they stand for on a queue, `QueueHooks` says.
 */

/** Marks errors: the item whose handler throws one is given up at once. */
export const TERMINAL: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.terminal");
export const NEWEST: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.newest");
export const TAKES_BACK: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.takesBack");
export const TAKE_BACK: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.takeBack");
export const EMPTIED: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.emptied");
export const ATTEMPTS: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.attempts");
