import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import type { BuildContext, PartKind } from "../registry/definition.ts";
import type { CustomConfig } from "../registry/part_config.ts";
import { Registry } from "../registry/registry.ts";
import { type LimiterDefinition, type LimiterDescription, limiterKind } from "./definition.ts";
import type { CheckedConfig, LimiterConfig } from "./limiter_config.ts";

/**
 * Registry of the limiter types that can be built from a config.
 *
 * {@linkcode limiters} has the built-in types. A type registered with `limiters` is available everywhere. To keep your
 * types separate, register them with a copy: `limiters.extend()`.
 *
 * @example Usage
 * ```ts
 * import { limiters } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const limiter = limiters.build({
 *   type: "max-wait",
 *   maxDelay: "1m",
 *   limiter: { type: "exponential", baseDelay: "1s", maxDelay: "1h" },
 * });
 * assertEquals(limiter.when("a"), 1000);
 * ```
 */
export class LimiterRegistry extends Registry<"limiter", RateLimiter> {
  /** The kind of part in this registry. */
  protected readonly kind: PartKind<"limiter", RateLimiter> = limiterKind;

  /**
   * Builds a limiter from its config.
   *
   * @typeParam T The type of the items.
   * @param config The limiter's type and options. A name is refused, because there is no document in which to look it
   * up; for names, use {@linkcode loadConfig}.
   * @param context The clock and the source of random numbers for the limiter.
   * @returns A new limiter.
   * @throws {ConfigError} If the config is invalid. The error lists every problem, and nothing is built.
   * @throws {TypeError} If `context` has an unknown member or a member of the wrong type.
   */
  override build<T>(config: LimiterConfig, context?: BuildContext): RateLimiter<T>;
  /**
   * Builds a limiter of a custom type, or a limiter that contains a custom limiter. The options of custom limiters are
   * checked at run time, not by the compiler.
   *
   * @typeParam T The type of the items.
   * @typeParam C The type of `config`.
   * @param config The limiter's type and options.
   * @param context The clock and the source of random numbers for the limiter.
   * @returns A new limiter.
   * @throws {ConfigError} If the config is invalid. The error lists every problem, and nothing is built.
   * @throws {TypeError} If `context` has an unknown member or a member of the wrong type.
   */
  override build<T, const C = CustomConfig>(
    config: C & CheckedConfig<C>,
    context?: BuildContext,
  ): RateLimiter<T>;
  override build(config: unknown, context?: BuildContext): RateLimiter {
    return super.build(config, context);
  }

  /**
   * Checks the config of a limiter and returns it as data, with defaults filled in and durations in milliseconds.
   * Nothing is built.
   *
   * @example The data
   * ```ts
   * import { limiters } from "@workqueue/core";
   * import { assertEquals } from "@std/assert";
   *
   * const { path, type, options } = limiters.describe({ type: "exponential", baseDelay: "5ms", maxDelay: "1m" });
   * assertEquals({ path, type, options }, {
   *   path: "",
   *   type: "exponential",
   *   options: { baseDelay: 5, maxDelay: 60_000 },
   * });
   * ```
   *
   * @param config The limiter's type and options, as for `build`.
   * @param context The clock and the source of random numbers for a limiter that is later created from the description.
   * @returns The description. The paths in it are JSON Pointers into the config.
   * @throws {ConfigError} If the config is invalid. The error lists every problem.
   * @throws {TypeError} If `context` has an unknown member or a member of the wrong type.
   */
  override describe(config: LimiterConfig, context?: BuildContext): LimiterDescription;
  /**
   * Describes a limiter of a custom type, or a limiter that contains a custom limiter.
   *
   * @typeParam C The type of `config`.
   * @param config The limiter's type and options, as for `build`.
   * @param context The clock and the source of random numbers for a limiter that is later created from the description.
   * @returns The description. The paths in it are JSON Pointers into the config.
   * @throws {ConfigError} If the config is invalid. The error lists every problem.
   * @throws {TypeError} If `context` has an unknown member or a member of the wrong type.
   */
  override describe<const C = CustomConfig>(config: C & CheckedConfig<C>, context?: BuildContext): LimiterDescription;
  override describe(config: unknown, context?: BuildContext): LimiterDescription {
    return super.describe(config, context);
  }
}

/**
 * Creates a registry of some limiter types, in place of {@linkcode limiters}, which has all built-in types. A bundle
 * then has only these types: see {@linkcode loadConfigWith}.
 *
 * @example Usage
 * ```ts
 * import { bucket, exponential, limiterRegistry } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(limiterRegistry(exponential, bucket).types(), ["exponential", "bucket"]);
 * ```
 *
 * @param definitions The definitions of the types, such as `exponential`.
 * @returns A new registry of these types.
 * @throws {TypeError} If two definitions have the same type, or a definition is invalid.
 */
export function limiterRegistry(...definitions: readonly LimiterDefinition[]): LimiterRegistry {
  const registry = new LimiterRegistry();
  for (const definition of definitions) registry.register(definition);
  return registry;
}
