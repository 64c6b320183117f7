import type { QueueDiscipline } from "../lib/contracts/discipline.ts";
import type { BuildContext, PartKind } from "../registry/definition.ts";
import type { CustomConfig } from "../registry/part_config.ts";
import { Registry } from "../registry/registry.ts";
import { type DisciplineDefinition, type DisciplineDescription, disciplineKind } from "./definition.ts";
import type { CheckedDisciplineConfig, DisciplineConfig } from "./discipline_config.ts";

/**
 * Registry of discipline types. Builds disciplines of these types from configs.
 *
 * {@linkcode disciplines} has the built-in types. A type registered with `disciplines` is available everywhere. To keep
 * your types separate, register them with a copy: `disciplines.extend()`.
 *
 * @example Usage
 * ```ts
 * import { createWorkQueue, disciplines } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const discipline = disciplines.build<string>({ type: "fair", separator: "/" });
 * const queue = createWorkQueue({ discipline });
 * for (const key of ["big/1", "big/2", "big/3", "small/1"]) queue.add(key);
 * assertEquals([queue.tryGet()?.item, queue.tryGet()?.item], ["big/1", "small/1"]);
 * ```
 */
export class DisciplineRegistry extends Registry<"discipline", QueueDiscipline<unknown>> {
  /** Kind of the parts in this registry: disciplines. */
  protected readonly kind: PartKind<"discipline", QueueDiscipline<unknown>> = disciplineKind;

  /**
   * Builds a discipline from its config.
   *
   * @typeParam T The type of the items.
   * @param config The discipline's type and options.
   * @param context The clock and the source of random numbers for the discipline.
   * @returns A new discipline, to use in one queue.
   * @throws {ConfigError} If the config is invalid. The error lists every problem, and nothing is built.
   * @throws {TypeError} If `context` has an unknown member or one of the wrong type.
   */
  override build<T>(config: DisciplineConfig, context?: BuildContext): QueueDiscipline<T>;
  /**
   * Builds a discipline of a custom type, or a discipline that contains a custom discipline. The options of custom
   * disciplines are checked at run time, not by the compiler.
   *
   * @typeParam T The type of the items.
   * @typeParam C The type of `config`.
   * @param config The discipline's type and options.
   * @param context The clock and the source of random numbers for the discipline.
   * @returns A new discipline, to use in one queue.
   * @throws {ConfigError} If the config is invalid. The error lists every problem, and nothing is built.
   * @throws {TypeError} If `context` has an unknown member or one of the wrong type.
   */
  override build<T, const C = CustomConfig>(
    config: C & CheckedDisciplineConfig<C>,
    context?: BuildContext,
  ): QueueDiscipline<T>;
  override build(config: unknown, context?: BuildContext): QueueDiscipline<unknown> {
    return super.build(config, context);
  }

  /**
   * Checks the config of a discipline and returns it as data, with defaults filled in and durations in milliseconds.
   * Nothing is built.
   *
   * @param config The discipline's type and options, as for `build`.
   * @param context The clock and the source of random numbers for the description's `create`.
   * @returns The description. The description's paths are JSON Pointers into the config.
   * @throws {ConfigError} If the config is invalid. The error lists every problem.
   * @throws {TypeError} If `context` has an unknown member or one of the wrong type.
   */
  override describe(config: DisciplineConfig, context?: BuildContext): DisciplineDescription;
  /**
   * Describes a discipline of a custom type, or a discipline that contains a custom discipline.
   *
   * @typeParam C The type of `config`.
   * @param config The discipline's type and options, as for `build`.
   * @param context The clock and the source of random numbers for the description's `create`.
   * @returns The description. The description's paths are JSON Pointers into the config.
   * @throws {ConfigError} If the config is invalid. The error lists every problem.
   * @throws {TypeError} If `context` has an unknown member or one of the wrong type.
   */
  override describe<const C = CustomConfig>(
    config: C & CheckedDisciplineConfig<C>,
    context?: BuildContext,
  ): DisciplineDescription;
  override describe(config: unknown, context?: BuildContext): DisciplineDescription {
    return super.describe(config, context);
  }
}

/**
 * Creates a registry of some discipline types, in place of {@linkcode disciplines}, which has all built-in types. A
 * bundle then has only these types: see {@linkcode loadConfigWith}.
 *
 * @example Usage
 * ```ts
 * import { disciplineRegistry, fair } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(disciplineRegistry(fair).types(), ["fair"]);
 * ```
 *
 * @param definitions The definitions of the types, such as `fair`.
 * @returns A new registry of these types.
 * @throws {TypeError} If two definitions have the same type, or a definition is invalid.
 */
export function disciplineRegistry(...definitions: readonly DisciplineDefinition[]): DisciplineRegistry {
  const registry = new DisciplineRegistry();
  for (const definition of definitions) registry.register(definition);
  return registry;
}
