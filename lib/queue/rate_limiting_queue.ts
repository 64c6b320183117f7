/**
 * Layer 3: a delaying queue whose rate limiter decides how long an item is delayed.
 *
 * @module
 */

import { A_BOOLEAN, hasMethods, requireRules } from "../base/arguments.ts";
import { timeoutRule } from "../base/duration_arguments.ts";
import { argumentError, invalidArgument } from "../base/errors.ts";
import type { RateLimiter } from "../contracts/rate_limiter.ts";
import type { RateLimitingQueue, RateLimitingQueueOptions } from "../contracts/rate_limiting_queue.ts";
import { liveDurationRule } from "./live_duration.ts";
import { brings, KEEPER } from "./opt_ins.ts";
import { delayingRules } from "./options.ts";
import { LimitedQueue } from "./limited_queue.ts";

export type * from "../contracts/given_up.ts";
export type * from "../contracts/rate_limiter.ts";
export type * from "../contracts/rate_limiting_queue.ts";
export { GivenUpError } from "./given_up_error.ts";
export { NOT_COUNTED } from "../base/brands.ts";
export { createGivenUpStore } from "./given_up_store.ts";
export * from "./delaying_queue.ts";

/**
 * Creates a {@linkcode RateLimitingQueue}.
 *
 * @example Usage
 * ```ts
 * import { createExponentialLimiter, createRateLimitingQueue } from "@workqueue/core";
 * import { FakeTime } from "@std/testing/time";
 * import { assertEquals } from "@std/assert";
 *
 * using time = new FakeTime();
 * const limiter = createExponentialLimiter({ baseDelay: 100, maxDelay: 60_000 });
 * using queue = createRateLimitingQueue<string>(limiter);
 *
 * queue.addRateLimited("a"); // after 100 ms
 * time.tick(100);
 * queue.tryGet()?.[Symbol.dispose]();
 *
 * queue.addRateLimited("a"); // after 200 ms
 * time.tick(199);
 * assertEquals(queue.length, 0);
 * time.tick(1);
 * assertEquals(queue.length, 1);
 * assertEquals(queue.numRequeues("a"), 2);
 * ```
 *
 * @typeParam T The type of the items.
 * @typeParam R The type of the results, for `addAndWait`. Handlers must return it.
 * @param limiter Decides how long an item is delayed. Several queues may share it.
 * @param options The queue's options. All are optional.
 * @returns An empty queue.
 * @throws {TypeError} If `limiter` is not a rate limiter or has `forgetAfter`, or an option is unknown or has an
 * invalid value.
 * @throws {RangeError} If an option has an invalid numeric value, such as a `maxSleep` that is out of bounds.
 * @throws {Error} If another queue has the store of the option `keepGivenUp`.
 * @throws Any error that the metrics provider throws when it creates a metric.
 */
export function createRateLimitingQueue<T, R = unknown>(
  limiter: RateLimiter<T>,
  options: RateLimitingQueueOptions<T> = {},
): RateLimitingQueue<T, R> {
  if (!hasMethods(limiter, "when", "forget", "numRequeues")) {
    const isConfig = typeof (limiter as { type?: unknown } | null | undefined)?.type === "string";
    const rule = isConfig
      ? "must be made from a config, by limiters.build()"
      : "must be made by a create…Limiter, or have when, forget and numRequeues";
    throw invalidArgument(ACTION, "limiter", rule, limiter);
  }
  requireRules(ACTION, options, {
    ...delayingRules(timeoutRule()),
    keepGivenUp: [(value: unknown) => brings(value, KEEPER), "must be made by createGivenUpStore()"],
    forgetAfter: liveDurationRule(),
    retriesFirst: A_BOOLEAN,
    retryPriority: [Number.isFinite, "must be a finite number"],
  });
  const needed = options.discipline === undefined ? "retryPriority" : "retriesFirst";
  if (options[needed] !== undefined && options[needed] !== false) {
    const order = needed === "retryPriority" ? "with priorities: set 'discipline'" : "that is first in, first out";
    throw argumentError(ACTION, `'${needed}' is for a queue ${order}`, TypeError);
  }
  if (limiter.next !== undefined && (limiter.forgetAfter ?? Infinity) < Infinity) {
    throw argumentError(ACTION, "'forgetAfter' is an option of the queue, not of its limiter", TypeError);
  }
  const { keepGivenUp } = options;
  const queue: RateLimitingQueue<T> = keepGivenUp === undefined
    ? new LimitedQueue(limiter, options)
    : (keepGivenUp as object as MakesKeeper)[KEEPER](limiter, options);
  return queue as RateLimitingQueue<T, R>;
}

const ACTION = "create rate limiting queue";

/** Store of given-up items, as `createRateLimitingQueue` sees it. */
interface MakesKeeper {
  [KEEPER]<T>(limiter: RateLimiter<T>, options: RateLimitingQueueOptions<T>): RateLimitingQueue<T>;
}
