/** Key of the value in a {@linkcode Result}. */
export const RESULT: unique symbol = /* @__PURE__ */ Symbol.for("workqueue.result");

/** Result of a handler, made by {@linkcode result}. */
export interface Result<R> {
  /** The value, which the pool passes on unread. */
  readonly [RESULT]: R;
}

/**
 * Marks a value as the result of a handler, even if it looks like an outcome, such as `{ requeue: true }`. Any other
 * value that a handler returns is its result even without this mark.
 *
 * @example A result that looks like an outcome
 * ```ts
 * import { createExponentialLimiter, createRateLimitingQueue, result, runWorkers } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const limiter = createExponentialLimiter({ baseDelay: "5ms", maxDelay: "1m" });
 * const queue = createRateLimitingQueue<string, { requeue: boolean }>(limiter);
 * runWorkers(queue, (_item) => result({ requeue: true }));
 * assertEquals(await queue.addAndWait("a"), { requeue: true });
 * queue.shutDown();
 * ```
 *
 * @typeParam R The type of the value.
 * @param value The value.
 * @returns An object that the handler returns.
 */
export function result<R>(value: R): Result<R> {
  return { [RESULT]: value };
}
