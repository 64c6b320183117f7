/**
 * Throttle with a fixed limit on the number of attempts that run at once.
 *
 * Effect: runs at most `limit` attempts at once, over all pools that share the throttle.
 *
 * Choose it when several queues use one service, which works on a known number of requests at once.
 *
 * ```json
 * { "type": "concurrency", "limit": 10 }
 * ```
 *
 * @module
 */

import type { Clock } from "../lib/base/clock.ts";
import type { Throttle } from "../lib/contracts/throttle.ts";
import { builtIn } from "../registry/built_in.ts";
import type { Fields, OptionsInput } from "../registry/fields.ts";
import { integerKind } from "../registry/option_kinds.ts";
import { createThrottle, type ThrottleDefinition } from "./definition.ts";
import { LimitedThrottle } from "./limited_throttle.ts";

export type * from "./types.ts";

/** Options of a concurrency throttle. */
export const concurrencyOptions = {
  limit: { kind: "integer", min: 1, description: "Maximum number of attempts that run at once, over all pools." },
} as const satisfies Fields;

/** Definition of `{ "type": "concurrency" }`. */
export const concurrency: ThrottleDefinition<"concurrency", typeof concurrencyOptions> = {
  type: "concurrency",
  description: "Runs at most a fixed number of attempts at once, over all pools that share the throttle.",
  options: concurrencyOptions,
  create: ({ limit }) => new ConcurrencyThrottle(limit),
  update: /* @__PURE__ */ builtIn(1, (throttle: ConcurrencyThrottle, { limit }) => throttle.setLimit(limit)),
};

/**
 * Creates a throttle that runs at most `limit` attempts at once, over all pools that share the throttle. After a lower
 * limit, no attempt starts until fewer are running.
 *
 * @example Two queues, one backend
 * ```ts
 * import { createExponentialLimiter, createRateLimitingQueue, runWorkers } from "@workqueue/core";
 * import { createConcurrencyThrottle } from "@workqueue/core/throttles";
 * import { assertEquals } from "@std/assert";
 *
 * const throttle = createConcurrencyThrottle({ limit: 3 });
 * let most = 0;
 * const call = async () => {
 *   most = Math.max(most, throttle.snapshot!().inUse);
 *   await Promise.resolve();
 * };
 * const queues = ["pods", "nodes"].map((name) => {
 *   const limiter = createExponentialLimiter({ baseDelay: 5, maxDelay: 1000 });
 *   const queue = createRateLimitingQueue<number>(limiter, { name });
 *   runWorkers(queue, call, { throttle, concurrency: 5 });
 *   for (let i = 0; i < 10; i++) queue.add(i);
 *   return queue;
 * });
 * await Promise.all(queues.map((queue) => queue.shutDownWithDrain()));
 * assertEquals(most, 3);
 * ```
 *
 * @param options `limit`: a positive integer; `clock`: accepted for uniformity, but unused.
 * @returns The throttle.
 * @throws {RangeError} If `limit` is a number out of range.
 * @throws {TypeError} If an option is unknown, missing, or has the wrong type.
 */
export function createConcurrencyThrottle(
  options: OptionsInput<typeof concurrencyOptions> & { clock?: Clock | undefined },
): Throttle {
  return createThrottle(concurrency, { integer: integerKind }, options);
}

class ConcurrencyThrottle extends LimitedThrottle {
  readonly ignoresDurations = true;

  setLimit(limit: number): void {
    this.limit = limit;
  }
}
