import { hasMethods } from "../lib/base/arguments.ts";
import type { RateLimiter } from "../lib/contracts/rate_limiter.ts";
import { type PartDefinition, type PartKind, requireDefinition } from "../registry/definition.ts";
import type { PartDescription } from "../registry/description.ts";
import type { Fields, OptionsOf } from "../registry/fields.ts";
import { type ContextRules, createInCode, type KindsOf } from "../registry/options_in_code.ts";

/** Describes limiters to the code that limiters share with other kinds of parts. */
export const limiterKind: PartKind<"limiter", RateLimiter> = {
  word: "limiter",
  name: "rate limiter",
  hasNames: true,
  elsewhere: { forgetAfter: "is an option of the queue, not of a limiter" },
  is: (value): value is RateLimiter => hasMethods(value, "when", "forget", "numRequeues"),
};

/** Declarations of a limiter's options, by name. */
export type LimiterFields = Fields<"limiter">;

/** Type of a limiter's options as passed to `create`. */
export type LimiterOptions<F extends LimiterFields> = OptionsOf<F, Record<"limiter", RateLimiter>>;

/**
 * Definition of a type of limiter: its name, its options, and its `create` function. `L` is the type that `create`
 * returns.
 */
export type LimiterDefinition<
  Type extends string = string,
  F extends LimiterFields = LimiterFields,
  L extends RateLimiter = RateLimiter,
> = PartDefinition<"limiter", RateLimiter, Type, F, L>;

/** Description, as data, of a limiter in a config. */
export type LimiterDescription = PartDescription<RateLimiter>;

/**
 * Defines a type of limiter, for registration with {@linkcode LimiterRegistry}.
 *
 * The options are declared as plain data. Validation, the JSON Schema and the TypeScript types of `create` are all
 * derived from that declaration. The kinds are `"duration"`, `"durations"` (a list of them), `"integer"`, `"number"`,
 * `"boolean"`, `"string"`, `"enum"` (one of `values`), `"weights"` (positive numbers by name), `"rate"` (an object with
 * `rate` and `burst`), `"retryBudget"` (an object with `ratio` and `minRate`), `"retention"` (an integer, or an object
 * with `max` and `maxAge`), `"limiter"` and `"limiters"`. {@linkcode Field} documents their bounds. {@linkcode
 * PartField} documents templates, from which a limiter can be created for each group of items. An option is required
 * unless it has a `default` or `required: false`.
 *
 * @example Usage
 * ```ts
 * import { defineLimiter, limiters } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const linear = defineLimiter({
 *   type: "linear",
 *   description: "Adds one step to the delay with each failure.",
 *   options: {
 *     step: { kind: "duration", min: 1, description: "Delay that each failure adds." },
 *   },
 *   create({ step }) {
 *     const failures = new Map<unknown, number>();
 *     const count = (key: unknown) => failures.get(key) ?? 0;
 *     return {
 *       when(item, key = item) {
 *         failures.set(key, count(key) + 1);
 *         return count(key) * step;
 *       },
 *       forget: (item, key = item) => void failures.delete(key),
 *       numRequeues: (item, key = item) => count(key),
 *     };
 *   },
 * });
 *
 * const registry = limiters.extend().register(linear);
 * const limiter = registry.build({ type: "linear", step: "1s" });
 * assertEquals([limiter.when("a"), limiter.when("a")], [1000, 2000]);
 * ```
 *
 * With `update`, a limiter keeps its state when its config is reloaded. `update` receives the limiter that `create`
 * returned and the new options. The clock and the random number function of the limiter stay the same. Without
 * `update`, a change to the options replaces the limiter with a new one, which has no counts.
 *
 * @example A limiter that keeps its counts when its options change
 * ```ts
 * import { defineLimiter, limiters, loadConfig, type RateLimiter } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * class Linear implements RateLimiter {
 *   readonly #failures = new Map<unknown, number>();
 *
 *   constructor(public step: number) {}
 *
 *   when(item: unknown, key = item): number {
 *     this.#failures.set(key, this.numRequeues(item, key) + 1);
 *     return this.numRequeues(item, key) * this.step;
 *   }
 *   forget(item: unknown, key = item): void {
 *     this.#failures.delete(key);
 *   }
 *   numRequeues(item: unknown, key = item): number {
 *     return this.#failures.get(key) ?? 0;
 *   }
 * }
 *
 * const linear = defineLimiter({
 *   type: "linear",
 *   description: "Adds one step to the delay with each failure.",
 *   options: { step: { kind: "duration", description: "Delay that each failure adds." } },
 *   create: ({ step }) => new Linear(step),
 *   update(limiter, { step }) {
 *     limiter.step = step;
 *   },
 * });
 *
 * const document = (step: string) => ({ limiters: { retries: { type: "linear", step } } });
 * const config = loadConfig(document("1s"), { limiters: limiters.extend().register(linear) });
 * const limiter = config.limiter("retries");
 * assertEquals([limiter.when("a"), limiter.when("a")], [1000, 2000]);
 *
 * config.reload(document("5s"));
 * assertEquals(limiter.when("a"), 15_000);
 * ```
 *
 * @typeParam Type The literal type of the name.
 * @typeParam F The declarations of the options.
 * @typeParam L The type of the limiter that `create` returns and `update` receives.
 * @param definition The definition.
 * @returns The same definition, after checking it.
 * @throws {TypeError} If a member of the definition is missing or has the wrong type, or a default is invalid.
 * @throws {RangeError} If a default is a number out of range.
 */
export function defineLimiter<
  const Type extends string,
  const F extends LimiterFields,
  L extends RateLimiter = RateLimiter,
>(
  definition: LimiterDefinition<Type, F, L>,
): LimiterDefinition<Type, F, L> {
  requireDefinition(limiterKind, definition);
  return definition;
}

/**
 * Creates a limiter from options given in code. `kinds` are the kinds of the definition's options. `contextRules`
 * has the rules of the options, such as `clock`, that belong to the build context rather than to the definition.
 */
export function createLimiter<F extends LimiterFields>(
  definition: LimiterDefinition<string, F>,
  kinds: KindsOf<F>,
  options: object,
  contextRules?: ContextRules,
): RateLimiter {
  return createInCode("limiter", definition, kinds, options, contextRules);
}
