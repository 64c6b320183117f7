/**
 * Throttles, which decide whether one more attempt may start, and their registry.
 *
 * Each throttle has a function that creates it, such as {@linkcode createConcurrencyThrottle}, and a type, which is its
 * name in configs, such as `"concurrency"`. Any number of pools can share a throttle.
 *
 * {@linkcode throttles} builds throttles from config. {@linkcode defineThrottle} declares a custom throttle.
 *
 * @example Usage
 * ```ts
 * import { throttles } from "@workqueue/core/throttles";
 * import { assertEquals } from "@std/assert";
 *
 * const throttle = throttles.build({ type: "concurrency", limit: 1 });
 * const permit = throttle.acquire();
 * assertEquals([typeof permit, throttle.acquire()], ["object", Infinity]);
 * ```
 *
 * @module
 */

export { ConfigError, type ConfigIssue } from "../lib/base/errors.ts";
export { adaptThrottle } from "../lib/tokens/adapt_throttle.ts";
export { type Reservation, TokenBucket } from "../lib/tokens/token_bucket.ts";
export * from "./built_ins.ts";
export { defineThrottle } from "./definition.ts";
export type * from "./throttle_config.ts";
export { ThrottleRegistry, throttleRegistry } from "./throttle_registry.ts";
export { throttles } from "./throttles.ts";
export type * from "./types.ts";
export type * from "../registry/part_config.ts";
export { Registry } from "../registry/registry.ts";
