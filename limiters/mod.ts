/**
 * Rate limiters, which decide how long a failed item is delayed, and their registry.
 *
 * Each limiter has a function that creates it, such as {@linkcode createExponentialLimiter}, and a type, which is its
 * name in configs, such as `"exponential"`. Some limiters wrap other limiters.
 *
 * {@linkcode limiters} builds limiters from config. {@linkcode defineLimiter} declares a custom limiter.
 *
 * @example Usage
 * ```ts
 * import { limiters } from "@workqueue/core/limiters";
 * import { assertEquals } from "@std/assert";
 *
 * const limiter = limiters.build<string>({ type: "exponential", baseDelay: "5ms", maxDelay: "1m" });
 * assertEquals([limiter.when("a"), limiter.when("a"), limiter.when("b")], [5, 10, 5]);
 * ```
 *
 * @module
 */

export { NOT_COUNTED } from "../lib/base/brands.ts";
export { ConfigError, type ConfigIssue } from "../lib/base/errors.ts";
export { type Reservation, TokenBucket } from "../lib/tokens/token_bucket.ts";
export * from "./built_ins.ts";
export { createDefaultControllerLimiter, createDefaultItemLimiter, defaultControllerConfig } from "./defaults.ts";
export { defineLimiter } from "./definition.ts";
export type * from "./limiter_config.ts";
export { LimiterRegistry, limiterRegistry } from "./limiter_registry.ts";
export { limiters } from "./limiters.ts";
export type * from "./types.ts";
export type * from "../registry/part_config.ts";
export { Registry } from "../registry/registry.ts";
