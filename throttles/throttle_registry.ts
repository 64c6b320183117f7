import type { Throttle } from "../lib/contracts/throttle.ts";
import type { BuildContext, PartKind } from "../registry/definition.ts";
import type { CustomConfig } from "../registry/part_config.ts";
import { Registry } from "../registry/registry.ts";
import { type ThrottleDefinition, type ThrottleDescription, throttleKind } from "./definition.ts";
import type { CheckedThrottleConfig, ThrottleConfig } from "./throttle_config.ts";

/**
 * Registry of throttle types. Builds throttles of these types from configs.
 *
 * {@linkcode throttles} has the built-in types. A type registered with `throttles` is available everywhere. To keep
 * your types separate, register them with a copy: `throttles.extend()`.
 *
 * @example Usage
 * ```ts
 * import { createRateLimitingQueue, createExponentialLimiter, runWorkers, throttles } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const throttle = throttles.build({ type: "bucket", rate: 100, burst: 10 });
 * const queue = createRateLimitingQueue<string>(createExponentialLimiter({ baseDelay: 5, maxDelay: 1000 }));
 * const worked: string[] = [];
 * await using _pool = runWorkers(queue, (item) => void worked.push(item), { throttle });
 * queue.add("a");
 * await queue.shutDownWithDrain();
 * assertEquals(worked, ["a"]);
 * ```
 */
export class ThrottleRegistry extends Registry<"throttle", Throttle> {
  /** Kind of the parts in this registry: throttles. */
  protected readonly kind: PartKind<"throttle", Throttle> = throttleKind;

  /**
   * Builds a throttle from its config.
   *
   * @param config The throttle's type and options.
   * @param context The clock and the source of random numbers for the throttle.
   * @returns A new throttle, which any number of pools can share.
   * @throws {ConfigError} If the config is invalid. The error lists every problem, and nothing is built.
   * @throws {TypeError} If `context` has an unknown member or one of the wrong type.
   */
  override build(config: ThrottleConfig, context?: BuildContext): Throttle;
  /**
   * Builds a throttle of a custom type, or a throttle that contains a custom throttle. The options of custom throttles
   * are checked at run time, not by the compiler.
   *
   * @typeParam C The type of `config`.
   * @param config The throttle's type and options.
   * @param context The clock and the source of random numbers for the throttle.
   * @returns A new throttle, which any number of pools can share.
   * @throws {ConfigError} If the config is invalid. The error lists every problem, and nothing is built.
   * @throws {TypeError} If `context` has an unknown member or one of the wrong type.
   */
  override build<const C = CustomConfig>(config: C & CheckedThrottleConfig<C>, context?: BuildContext): Throttle;
  override build(config: unknown, context?: BuildContext): Throttle {
    return super.build(config, context);
  }

  /**
   * Checks the config of a throttle and returns it as data, with defaults filled in and durations in milliseconds.
   * Nothing is built.
   *
   * @param config The throttle's type and options, as for `build`.
   * @param context The clock and the source of random numbers for the description's `create`.
   * @returns The description. The description's paths are JSON Pointers into the config.
   * @throws {ConfigError} If the config is invalid. The error lists every problem.
   * @throws {TypeError} If `context` has an unknown member or one of the wrong type.
   */
  override describe(config: ThrottleConfig, context?: BuildContext): ThrottleDescription;
  /**
   * Describes a throttle of a custom type, or a throttle that contains a custom throttle.
   *
   * @typeParam C The type of `config`.
   * @param config The throttle's type and options, as for `build`.
   * @param context The clock and the source of random numbers for the description's `create`.
   * @returns The description. The description's paths are JSON Pointers into the config.
   * @throws {ConfigError} If the config is invalid. The error lists every problem.
   * @throws {TypeError} If `context` has an unknown member or one of the wrong type.
   */
  override describe<const C = CustomConfig>(
    config: C & CheckedThrottleConfig<C>,
    context?: BuildContext,
  ): ThrottleDescription;
  override describe(config: unknown, context?: BuildContext): ThrottleDescription {
    return super.describe(config, context);
  }
}

/**
 * Creates a registry of some throttle types, in place of {@linkcode throttles}, which has all built-in types. A bundle
 * then has only these types: see {@linkcode loadConfigWith}.
 *
 * @example Usage
 * ```ts
 * import { bucket, concurrency, throttleRegistry } from "@workqueue/core/throttles";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(throttleRegistry(bucket, concurrency).types(), ["bucket", "concurrency"]);
 * ```
 *
 * @param definitions The definitions of the types, such as `bucket`.
 * @returns A new registry of these types.
 * @throws {TypeError} If two definitions have the same type, or a definition is invalid.
 */
export function throttleRegistry(...definitions: readonly ThrottleDefinition[]): ThrottleRegistry {
  const registry = new ThrottleRegistry();
  for (const definition of definitions) registry.register(definition);
  return registry;
}
