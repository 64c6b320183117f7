/**
 * Types of throttle configs.
 *
 * @module
 */

import type { CheckedPartConfig, DeclaredOptions, PartConfig } from "../registry/part_config.ts";
import type * as builtIns from "./built_ins.ts";

/** Declared options of each built-in throttle, by type. */
export type BuiltInThrottleOptions = DeclaredOptions<typeof builtIns>;

/** Types of nested configs, by kind of part. */
export interface ThrottleInputs {
  /** A throttle: its config, or its name in the document. */
  throttle: ThrottleConfig | string;
}

/**
 * Config of a throttle: an object with its `type` and its options.
 *
 * @example Usage
 * ```ts
 * import { type ThrottleConfig, throttles } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const config: ThrottleConfig = { type: "concurrency", limit: 5 };
 * assertEquals(throttles.build(config).snapshot?.().limit, 5);
 * ```
 */
export type ThrottleConfig = PartConfig<BuiltInThrottleOptions, ThrottleInputs>;

/**
 * Type that a config of type `C` must have. A built-in throttle, nested or not, must have its required options and no
 * undeclared options. Options of custom throttles are not checked.
 */
export type CheckedThrottleConfig<C> = CheckedPartConfig<C, BuiltInThrottleOptions, "throttle", ThrottleConfig>;
