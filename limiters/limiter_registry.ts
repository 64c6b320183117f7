import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import type { BuildContext, PartKind } from "../registry/definition.ts";
import type { CustomConfig } from "../registry/part_config.ts";
import { Registry } from "../registry/registry.ts";
import { type LimiterDescription, limiterKind } from "./definition.ts";
import type { CheckedConfig, LimiterConfig } from "./limiter_config.ts";

/**
 * The types of limiter that can be built from a config.
 *
 * {@linkcode limiters} has the built-in ones. Registering a limiter of your own there makes it known
 * everywhere; `extend` gives you a registry to add to without that.
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
  /** Limiters. */
  protected readonly kind: PartKind<"limiter", RateLimiter> = limiterKind;

  /**
   * Builds a limiter from its config.
   *
   * @typeParam T The type of the items.
   * @param config The limiter's type and options. It cannot be a name, as there is no document to look in:
   * that is what {@linkcode loadConfig} is for.
   * @param context What the limiter is built with beside its options: `clock` and `random`.
   * @returns A new limiter.
   * @throws {ConfigError} If the config is not right; with everything that is wrong. Nothing was built in that case.
   * @throws {TypeError} If the context is not right.
   */
  override build<T>(config: LimiterConfig, context?: BuildContext): RateLimiter<T>;
  /**
   * Builds a limiter that is not built in, or that such a limiter is nested in. Options of limiters that are not built
   * in are checked when this is called, and not by the compiler.
   *
   * @typeParam T The type of the items.
   * @typeParam C The type of the config itself.
   * @param config The limiter's type and options.
   * @param context What the limiter is built with beside its options: `clock` and `random`.
   * @returns A new limiter.
   * @throws {ConfigError} If the config is not right; with everything that is wrong. Nothing was built in that case.
   * @throws {TypeError} If the context is not right.
   */
  override build<T, const C = CustomConfig>(
    config: C & CheckedConfig<C>,
    context?: BuildContext,
  ): RateLimiter<T>;
  override build(config: unknown, context?: BuildContext): RateLimiter {
    return super.build(config, context);
  }

  /**
   * Checks the config of a limiter and gives it as data: defaults filled in, lengths of time in milliseconds. Nothing
   * is built.
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
   * @param config The limiter's type and options, as `build` takes them.
   * @param context What limiters are built with, for `create` of the description.
   * @returns The description. Its paths are JSON Pointers into the config.
   * @throws {ConfigError} If the config is not right; with everything that is wrong.
   * @throws {TypeError} If the context is not right.
   */
  override describe(config: LimiterConfig, context?: BuildContext): LimiterDescription;
  /**
   * Describes a limiter that is not built in, or that such a limiter is nested in.
   *
   * @typeParam C The type of the config itself.
   * @param config The limiter's type and options, as `build` takes them.
   * @param context What limiters are built with, for `create` of the description.
   * @returns The description. Its paths are JSON Pointers into the config.
   * @throws {ConfigError} If the config is not right; with everything that is wrong.
   * @throws {TypeError} If the context is not right.
   */
  override describe<const C = CustomConfig>(config: C & CheckedConfig<C>, context?: BuildContext): LimiterDescription;
  override describe(config: unknown, context?: BuildContext): LimiterDescription {
    return super.describe(config, context);
  }
}
