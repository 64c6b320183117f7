import { hasMethods, requireExtensible } from "../base/arguments.ts";
import { GATE } from "../base/brands.ts";
import { invalidArgument } from "../base/errors.ts";
import type { Throttle } from "../contracts/throttle.ts";
import { setGate } from "./throttle_gate.ts";

/**
 * Prepares a throttle of your own for pools, which then ask it for permits. Token buckets, built-in throttles, and
 * throttles that a registry builds, need no preparation. Programs without throttles don't contain the code for them.
 *
 * @example At most one attempt at once
 * ```ts
 * import { adaptThrottle, createExponentialLimiter, createRateLimitingQueue, runWorkers } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * let isRunning = false;
 * const listeners = new Set<() => void>();
 * const throttle = adaptThrottle({
 *   acquire() {
 *     if (isRunning) return Infinity; // until a change
 *     isRunning = true;
 *     return {
 *       begin() {},
 *       charge() {},
 *       end() {
 *         isRunning = false;
 *         for (const listener of listeners) listener();
 *       },
 *     };
 *   },
 *   onChange(callback: () => void) {
 *     listeners.add(callback);
 *     return () => void listeners.delete(callback);
 *   },
 * });
 * const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 5, maxDelay: 1000 }));
 * const began: string[] = [];
 * runWorkers(queue, async (item) => {
 *   began.push(item);
 *   await Promise.resolve();
 * }, { concurrency: 10, throttle });
 * for (const item of ["a", "b"]) queue.add(item);
 * await queue.shutDownWithDrain();
 * assertEquals(began, ["a", "b"]);
 * ```
 *
 * @typeParam H The type of the throttle.
 * @param own The throttle. It gets a symbol as a property, so it must not be frozen.
 * @returns The same throttle.
 * @throws {TypeError} If `own` is not a throttle, or can't get a property.
 */
export function adaptThrottle<H extends Throttle>(own: H): H {
  if (!hasMethods(own, "acquire")) {
    throw invalidArgument("adapt throttle", "own", "must have the method acquire", own);
  }
  if (GATE in own) return own;
  requireExtensible("adapt throttle", own);
  setGate(own);
  return own;
}
