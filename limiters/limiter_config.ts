/**
 * The type of a limiter's config.
 *
 * @module
 */

import type { OptionsInput } from "../registry/fields.ts";
import type * as builtIns from "./built_ins.ts";
import type { LimiterDefinition } from "./definition.ts";

/** The declared options of each built-in limiter, by type. */
export type BuiltInOptions = {
  [
    Name in keyof typeof builtIns as typeof builtIns[Name] extends LimiterDefinition<infer Type, infer _> ? Type : never
  ]: typeof builtIns[Name] extends LimiterDefinition<infer _, infer F> ? F : never;
};

/** What is written where an option takes another part, by the kind of part. */
export interface LimiterInputs {
  /** A limiter. */
  limiter: LimiterConfig;
}

/** The config of one type of built-in limiter. */
export type BuiltInConfig<Type extends keyof BuiltInOptions = keyof BuiltInOptions> = {
  [K in Type]: { type: K } & OptionsInput<BuiltInOptions[K], LimiterInputs>;
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

/** The config of a limiter that is not built in. Nothing is known of its options. */
export type CustomConfig<Type extends string = string> = { type: Type; [option: string]: unknown };

/**
 * What a config has to be, given its own type `C`: limiters that are built in have the options that they declare and no
 * others, however deep they are nested. Nothing is known of other limiters.
 */
export type CheckedConfig<C> = C extends readonly unknown[] ? { [I in keyof C]: CheckedConfig<C[I]> }
  : C extends { type: infer Type extends keyof BuiltInOptions } ?
      & { type: Type }
      & OptionsInput<BuiltInOptions[Type], { limiter: unknown }>
      & {
        [Option in Exclude<keyof C, "type">]: Option extends keyof BuiltInOptions[Type]
          ? BuiltInOptions[Type][Option] extends { kind: "limiter" | "limiters" } ? CheckedConfig<C[Option]> : C[Option]
          : never;
      }
  : C extends { type: string } ? CustomConfig
  : LimiterConfig;
