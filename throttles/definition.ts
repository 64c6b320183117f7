import { A_CLOCK, hasMethods } from "../lib/base/arguments.ts";
import type { Throttle } from "../lib/contracts/throttle.ts";
import { adaptThrottle } from "../lib/tokens/adapt_throttle.ts";
import { type PartDefinition, type PartKind, requireDefinition } from "../registry/definition.ts";
import type { PartDescription } from "../registry/description.ts";
import type { Fields, OptionsOf } from "../registry/fields.ts";
import { createInCode, type KindsOf } from "../registry/options_in_code.ts";

/** Describes throttles to the code that throttles share with other kinds of parts. */
export const throttleKind: PartKind<"throttle", Throttle> = {
  word: "throttle",
  name: "throttle",
  hasNames: true,
  defaultType: "bucket",
  is: (value): value is Throttle => hasMethods(value, "acquire"),
  prepare: adaptThrottle,
};

/** Declarations of a throttle's options, by name. */
export type ThrottleFields = Fields<"throttle">;

/** Type of a throttle's options as passed to `create`. */
export type ThrottleOptions<F extends ThrottleFields> = OptionsOf<F, Record<"throttle", Throttle>>;

/**
 * Definition of a type of throttle: its name, its options, and its `create` function. `H` is the type that `create`
 * returns.
 */
export type ThrottleDefinition<
  Type extends string = string,
  F extends ThrottleFields = ThrottleFields,
  H extends Throttle = Throttle,
> = PartDefinition<"throttle", Throttle, Type, F, H>;

/** Description, as data, of a throttle in a config. */
export type ThrottleDescription = PartDescription<Throttle>;

/**
 * Defines a type of throttle, for registration with {@linkcode ThrottleRegistry}.
 *
 * The options are declared as plain data. Validation, the JSON Schema and the TypeScript types of `create` are derived
 * from that declaration. The kinds are `"duration"`, `"durations"` (a list of them), `"integer"`, `"number"`,
 * `"boolean"`, `"string"`, `"enum"` (one of `values`), `"weights"` (positive numbers by name), `"throttle"` and
 * `"throttles"`. {@linkcode Field} documents their bounds. An option is required unless it has a `default` or
 * `required: false`.
 *
 * With `update`, a throttle keeps its state when its config is reloaded. Without it, a change to the options replaces
 * the throttle with a new one.
 *
 * @example No attempts outside opening hours
 * ```ts
 * import { defineThrottle, throttles } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const HOUR = 3_600_000;
 * const openingHours = defineThrottle({
 *   type: "opening-hours",
 *   description: "Allows attempts only at certain hours of the day, in UTC.",
 *   options: {
 *     from: { kind: "integer", min: 0, max: 23, description: "First hour." },
 *     to: { kind: "integer", min: 1, max: 24, description: "End of the last hour." },
 *   },
 *   create({ from, to }, { clock }) {
 *     const permit = { begin() {}, charge() {}, end() {} };
 *     return {
 *       acquire() {
 *         const time = clock.now() % (24 * HOUR);
 *         const isOpen = time >= from * HOUR && time < to * HOUR;
 *         return isOpen ? permit : (from * HOUR - time + 24 * HOUR) % (24 * HOUR);
 *       },
 *     };
 *   },
 * });
 *
 * const registry = throttles.extend().register(openingHours);
 * const clock = { now: () => 7 * HOUR, setTimeout: () => 0, clearTimeout() {} };
 * const throttle = registry.build({ type: "opening-hours", from: 8, to: 18 }, { clock });
 * assertEquals(throttle.acquire(), HOUR);
 * ```
 *
 * @typeParam Type The literal type of the name.
 * @typeParam F The declarations of the options.
 * @typeParam H The type of the throttle that `create` returns and `update` receives.
 * @param definition The definition.
 * @returns The same definition, after checking it.
 * @throws {TypeError} If a member of the definition is missing or has the wrong type, or a default is invalid.
 * @throws {RangeError} If a default is a number out of range.
 */
export function defineThrottle<
  const Type extends string,
  const F extends ThrottleFields,
  H extends Throttle = Throttle,
>(
  definition: ThrottleDefinition<Type, F, H>,
): ThrottleDefinition<Type, F, H> {
  requireDefinition(throttleKind, definition);
  return definition;
}

/** Creates a throttle from options given in code, among them its `clock`. */
export function createThrottle<F extends ThrottleFields>(
  definition: ThrottleDefinition<string, F>,
  kinds: KindsOf<F>,
  options: object,
): Throttle {
  return adaptThrottle(createInCode("throttle", definition, kinds, options, { clock: A_CLOCK }));
}
