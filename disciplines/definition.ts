import type { QueueDiscipline } from "../lib/contracts/discipline.ts";
import { isDiscipline } from "../lib/queue/options.ts";
import { type PartDefinition, type PartKind, requireDefinition } from "../registry/definition.ts";
import type { PartDescription } from "../registry/description.ts";
import type { Fields, OptionsOf } from "../registry/fields.ts";
import { createInCode } from "../registry/options_in_code.ts";

/** Disciplines, as the registry knows them. No two queues share one, so documents give them no names. */
export const disciplineKind: PartKind<"discipline", QueueDiscipline<unknown>> = {
  word: "discipline",
  name: "queue discipline",
  hasNames: false,
  is: isDiscipline,
};

/** The declarations of a discipline's options, by name. */
export type DisciplineFields = Fields<"discipline">;

/** The type of a discipline's options as `create` gets them. */
export type DisciplineOptions<F extends DisciplineFields> = OptionsOf<
  F,
  Record<"discipline", QueueDiscipline<unknown>>
>;

/** A type of discipline: what it is called, which options it takes, and how it is made of them. */
export type DisciplineDefinition<Type extends string = string, F extends DisciplineFields = DisciplineFields> =
  PartDefinition<"discipline", QueueDiscipline<unknown>, Type, F>;

/** A discipline of a config, as data. */
export type DisciplineDescription = PartDescription<QueueDiscipline<unknown>>;

/**
 * Defines a type of discipline, to be registered with {@linkcode DisciplineRegistry}.
 *
 * The options are declared as plain data. Their TypeScript types in `create`, their validation and their
 * JSON Schema come from that declaration. The kinds are `"duration"`, `"integer"`, `"number"`, `"boolean"`,
 * `"string"`, `"enum"` (one of `values`), `"weights"` (positive numbers by name), `"discipline"` and `"disciplines"`;
 * see {@linkcode Field} for their bounds, and {@linkcode PartField} for disciplines of which there is one for each
 * group of items. An option is required unless it has a `default` or says `required: false`.
 *
 * @example Usage
 * ```ts
 * import { createWorkQueue, defineDiscipline, disciplines, type ReadyEntry } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const lifo = defineDiscipline({
 *   type: "lifo",
 *   description: "Hands out what became ready last.",
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
 * @returns The same, checked.
 * @throws {TypeError} If a part of the definition is missing or of the wrong type, or a default breaks its
 * own rule.
 * @throws {RangeError} If a default is a number that is out of its bounds.
 */
export function defineDiscipline<const Type extends string, const F extends DisciplineFields>(
  definition: DisciplineDefinition<Type, F>,
): DisciplineDefinition<Type, F> {
  requireDefinition(disciplineKind, definition);
  return definition;
}

/** Makes a discipline of options that were given in code. */
export function createDiscipline<F extends DisciplineFields>(
  definition: DisciplineDefinition<string, F>,
  options: object,
): QueueDiscipline<unknown> {
  return createInCode(disciplineKind, definition, options);
}
