/**
 * The type of a limiter's config.
 *
 * @module
 */

import type { bucketOptions } from "./bucket.ts";
import type { exponentialOptions } from "./exponential.ts";
import type { fastSlowOptions } from "./fast_slow.ts";
import type { OptionsInput } from "../registry/fields.ts";
import type { maxOfOptions } from "./max_of.ts";
import type { maxWaitOptions } from "./max_wait.ts";

/** The declared options of each built-in limiter, by type. */
export interface BuiltInOptions {
  /** See {@linkcode bucketOptions}. */
  bucket: typeof bucketOptions;
  /** See {@linkcode exponentialOptions}. */
  exponential: typeof exponentialOptions;
  /** See {@linkcode fastSlowOptions}. */
  "fast-slow": typeof fastSlowOptions;
  /** See {@linkcode maxOfOptions}. */
  "max-of": typeof maxOfOptions;
  /** See {@linkcode maxWaitOptions}. */
  "max-wait": typeof maxWaitOptions;
}

/** The config of one type of built-in limiter. */
export type BuiltInConfig<Type extends keyof BuiltInOptions = keyof BuiltInOptions> = {
  [K in Type]: { type: K } & OptionsInput<BuiltInOptions[K]>;
}[Type];

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
 * The config of a limiter that is not built in. `Type` is the literal type of its name; for the name of a
 * built-in limiter there is no such config, so that a misspelt option of one does not compile.
 */
export type CustomConfig<Type extends string> = Type extends keyof BuiltInOptions ? never
  : { type: Type; [option: string]: unknown };
