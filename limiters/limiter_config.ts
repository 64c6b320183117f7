/**
 * The type of a limiter's config.
 *
 * @module
 */

import type { CheckedPartConfig, DeclaredOptions, PartConfig } from "../registry/part_config.ts";
import type * as builtIns from "./built_ins.ts";

/** The declared options of each built-in limiter, by type. */
export type BuiltInOptions = DeclaredOptions<typeof builtIns>;

/** What is written where an option takes another part, by the kind of part. */
export interface LimiterInputs {
  /** A limiter. */
  limiter: LimiterConfig;
}

/** The config of one type of built-in limiter. */
export type BuiltInConfig<Type extends keyof BuiltInOptions = keyof BuiltInOptions> = PartConfig<
  BuiltInOptions,
  LimiterInputs,
  Type
>;

/**
 * The config of a limiter: an object with its `type` and its options, or the name of another limiter of the
 * document.
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
 * What a config has to be, given its own type `C`: limiters that are built in have the options that they declare and no
 * others, however deep they are nested. Nothing is known of other limiters.
 */
export type CheckedConfig<C> = CheckedPartConfig<C, BuiltInOptions, "limiter", LimiterConfig>;
