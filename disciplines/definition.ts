import type { QueueDiscipline } from "../lib/contracts/discipline.ts";
import { adaptDiscipline } from "../lib/queue/adapt_discipline.ts";
import { isDiscipline } from "../lib/queue/options.ts";
import { type PartDefinition, type PartKind, requireDefinition } from "../registry/definition.ts";
import type { PartDescription } from "../registry/description.ts";
import type { Fields, OptionsOf } from "../registry/fields.ts";
import { createInCode, type KindsOf } from "../registry/options_in_code.ts";

/**
 * Properties of disciplines as parts of a config. Queues can't share a discipline, so disciplines have no names in
 * documents.
 */
export const disciplineKind: PartKind<"discipline", QueueDiscipline<unknown>> = {
  word: "discipline",
  name: "queue discipline",
  hasNames: false,
  is: isDiscipline,
  prepare: adaptDiscipline,
};

/** Declarations of a discipline's options, by name. */
export type DisciplineFields = Fields<"discipline">;

/** Type of a discipline's options as passed to `create`. */
export type DisciplineOptions<F extends DisciplineFields> = OptionsOf<
  F,
  Record<"discipline", QueueDiscipline<unknown>>
>;

/** Definition of a type of discipline: its name, its options, and its `create`. */
export type DisciplineDefinition<Type extends string = string, F extends DisciplineFields = DisciplineFields> =
  PartDefinition<"discipline", QueueDiscipline<unknown>, Type, F>;

/** Description of a discipline in a config, as data. */
export type DisciplineDescription = PartDescription<QueueDiscipline<unknown>>;

/**
 * Defines a type of discipline, for registration with {@linkcode DisciplineRegistry}.
 *
 * The options are declared as plain data. Validation, the JSON Schema and the TypeScript types of `create` are derived
 * from that declaration. The kinds are `"duration"`, `"durations"` (a list of them), `"integer"`, `"number"`,
 * `"boolean"`, `"string"`, `"enum"` (one of `values`), `"weights"` (positive numbers by name), `"rate"` (an object with
 * `rate` and `burst`), `"retryBudget"` (an object with `ratio` and `minRate`), `"retention"` (an integer, or an object
 * with `max` and `maxAge`), `"discipline"` and `"disciplines"`.
 * {@linkcode Field} documents their bounds. {@linkcode PartField} documents templates, which create a separate
 * discipline for each group of items. An option is required unless it has a `default` or `required: false`.
 *
 * @example Usage
 * ```ts
 * import { createWorkQueue, defineDiscipline, disciplines, type ReadyEntry } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const lifo = defineDiscipline({
 *   type: "lifo",
 *   description: "Hands out the newest ready item first.",
 *   options: {},
 *   create() {
 *     const entries: ReadyEntry<unknown>[] = [];
 *     return {
 *       push: (entry) => void entries.push(entry),
 *       pop: () => entries.pop(),
 *       touch() {},
 *       get length() {
 *         return entries.length;
 *       },
 *     };
 *   },
 * });
 *
 * const registry = disciplines.extend().register(lifo);
 * const queue = createWorkQueue<string>({ discipline: registry.build({ type: "lifo" }) });
 * queue.add("first");
 * queue.add("second");
 * assertEquals(queue.tryGet()?.item, "second");
 * ```
 *
 * @typeParam Type The literal type of the name.
 * @typeParam F The declarations of the options.
 * @param definition The definition.
 * @returns The same definition, checked.
 * @throws {TypeError} If a member of the definition is missing or has the wrong type, or if a default is invalid.
 * @throws {RangeError} If a default is a number out of range.
 */
export function defineDiscipline<const Type extends string, const F extends DisciplineFields>(
  definition: DisciplineDefinition<Type, F>,
): DisciplineDefinition<Type, F> {
  requireDefinition(disciplineKind, definition);
  return definition;
}

/** Creates a discipline from options given in code. `kinds` are the kinds of the definition's options. */
export function createDiscipline<F extends DisciplineFields>(
  definition: DisciplineDefinition<string, F>,
  kinds: KindsOf<F>,
  options: object,
): QueueDiscipline<unknown> {
  return createInCode("discipline", definition, kinds, options);
}
