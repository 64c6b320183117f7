/**
 * The limiters that a config can name.
 *
 * @module
 */

import { brokenRule, inspect } from "../lib/base/errors.ts";
import { ConfigReader } from "./config_reader.ts";
import { type BuildContext, defineLimiter, type LimiterDefinition } from "./definition.ts";
import type { CustomConfig, LimiterConfig } from "../limiters/limiter_config.ts";
import { optionsSchema } from "./options_schema.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";

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
export class LimiterRegistry {
  readonly #definitions = new Map<string, LimiterDefinition>();

  /**
   * Adds a type of limiter.
   *
   * @param definition What {@linkcode defineLimiter} returned.
   * @returns The registry itself.
   * @throws {TypeError} If a type of that name is registered already, or the definition is not valid.
   */
  // deno-lint-ignore no-explicit-any -- a definition of whatever options
  register(definition: LimiterDefinition<string, any>): this {
    defineLimiter(definition); // for one that was written without it
    if (this.has(definition.type)) {
      throw new TypeError(`Cannot register limiter as the type ${inspect(definition.type)} is registered already`);
    }
    this.#definitions.set(definition.type, definition);
    return this;
  }

  /**
   * Removes a type of limiter. Limiters that were built stay as they are.
   *
   * @param type The name of the type.
   * @returns Whether it was registered.
   */
  unregister(type: string): boolean {
    return this.#definitions.delete(type);
  }

  /**
   * Tells whether a type of limiter is registered.
   *
   * @param type The name of the type.
   * @returns Whether it is.
   */
  has(type: string): boolean {
    return this.#definitions.has(type);
  }

  /**
   * Looks up the definition of a type.
   *
   * @param type The name of the type.
   * @returns The definition, or `undefined` if there is none.
   */
  get(type: string): LimiterDefinition | undefined {
    return this.#definitions.get(type);
  }

  /**
   * Lists the registered types.
   *
   * @returns Their names, in the order of registration.
   */
  types(): string[] {
    return [...this.#definitions.keys()];
  }

  /**
   * Lets a plugin register what it has.
   *
   * @param plugin Is called at once with the registry.
   * @returns The registry itself.
   */
  use(plugin: (registry: LimiterRegistry) => void): this {
    plugin(this);
    return this;
  }

  /**
   * Makes a registry with everything that is registered here now. Changes of the one do not show in the
   * other.
   *
   * @returns The new registry.
   */
  extend(): LimiterRegistry {
    const registry = new LimiterRegistry();
    for (const [type, definition] of this.#definitions) registry.#definitions.set(type, definition);
    return registry;
  }

  /**
   * Builds a limiter from its config.
   *
   * @typeParam T The type of the items.
   * @param config The limiter's type and options. It cannot be a name, as there is no document to look in:
   * that is what {@linkcode loadConfig} is for.
   * @param context Where time comes from.
   * @returns A new limiter.
   * @throws {ConfigError} If the config is not right; with everything that is wrong. Nothing was built then.
   */
  build<T>(config: LimiterConfig, context?: BuildContext): RateLimiter<T>;
  /**
   * Builds a limiter that is not built in.
   *
   * @typeParam T The type of the items.
   * @typeParam Type The literal type of its name.
   * @param config The limiter's type and options.
   * @param context Where time comes from.
   * @returns A new limiter.
   * @throws {ConfigError} If the config is not right; with everything that is wrong. Nothing was built then.
   */
  build<T, Type extends string = string>(
    config: { type: Type } & CustomConfig<Type>,
    context?: BuildContext,
  ): RateLimiter<T>;
  build(config: unknown, context: BuildContext = {}): RateLimiter {
    const reader = new ConfigReader("build limiter", this, context, (name, path) => {
      reader.fail(path, brokenRule("config", "must be an object, as there is no document to look up a name in", name));
      return undefined;
    });
    const make = reader.limiter("config", config, "");
    reader.throwIssues();
    return make!();
  }

  /**
   * Describes the config of a limiter as a JSON Schema (draft 2020-12), with the types registered now.
   *
   * What a schema cannot say, `build` still checks: rules between options (`maxDelay` not less than
   * `baseDelay`), the bounds of durations written as texts, and names.
   *
   * @returns The schema. `$defs/limiter` is a limiter, `$defs/limiterOrName` what a limiter's option takes.
   */
  jsonSchema(): Record<string, unknown> {
    const definitions = [...this.#definitions.values()];
    return {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      $ref: "#/$defs/limiter",
      $defs: {
        limiter: {
          type: "object",
          properties: {
            type: {
              description: "What kind of limiter it is; its options depend on that.",
              anyOf: definitions.map(({ type, description }) => ({ const: type, description })),
            },
          },
          required: ["type"],
          allOf: definitions.map(({ type, description, options }) => {
            const { properties, ...rest } = optionsSchema(options);
            return {
              if: { properties: { type: { const: type } }, required: ["type"] },
              then: { description, properties: { type: true, ...properties as object }, ...rest },
            };
          }),
        },
        limiterOrName: {
          anyOf: [{ $ref: "#/$defs/limiter" }, { type: "string" }],
        },
      },
    };
  }
}
