/**
 * Types of limiter configs.
 *
 * @module
 */

import type { CheckedPartConfig, DeclaredOptions, PartConfig } from "../registry/part_config.ts";
import type * as builtIns from "./built_ins.ts";

/** Declared options of each built-in limiter, by type. */
export type BuiltInOptions = DeclaredOptions<typeof builtIns>;

/** Types of nested configs, by kind of part. */
export interface LimiterInputs {
  /** A limiter. */
  limiter: LimiterConfig;
}

/** Config of one type of built-in limiter. */
export type BuiltInConfig<Type extends keyof BuiltInOptions = keyof BuiltInOptions> = PartConfig<
  BuiltInOptions,
  LimiterInputs,
  Type
>;

/**
 * Config of a limiter: an object with its `type` and its options, or the name of another limiter in the document.
 *
 * @example Usage
 * ```ts
 * import { type LimiterConfig, limiters } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const config: LimiterConfig = { type: "fast-slow", fastDelay: "5ms", slowDelay: "10s", maxFastAttempts: 1 };
 * const limiter = limiters.build(config);
 * assertEquals([limiter.when("a"), limiter.when("a")], [5, 10_000]);
 * ```
 */
export type LimiterConfig = string | BuiltInConfig;

/**
 * Type to which a config of type `C` must be assignable. A built-in limiter, nested or not, must have its required
 * options and no undeclared options. Options of custom limiters are not checked.
 */
export type CheckedConfig<C> = CheckedPartConfig<C, BuiltInOptions, "limiter", LimiterConfig>;
