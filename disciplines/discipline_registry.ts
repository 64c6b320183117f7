import type { QueueDiscipline } from "../lib/contracts/discipline.ts";
import type { BuildContext, PartKind } from "../registry/definition.ts";
import type { CustomConfig } from "../registry/part_config.ts";
import { Registry } from "../registry/registry.ts";
import { type DisciplineDescription, disciplineKind } from "./definition.ts";
import type { CheckedDisciplineConfig, DisciplineConfig } from "./discipline_config.ts";

/**
 * The types of discipline that can be built from a config.
 *
 * {@linkcode disciplines} has the built-in ones. Registering a discipline of your own there makes it known
 * everywhere; `extend` gives you a registry to add to without that.
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
  /** Disciplines. */
  protected readonly kind: PartKind<"discipline", QueueDiscipline<unknown>> = disciplineKind;

  /**
   * Builds a discipline from its config.
   *
   * @typeParam T The type of the items.
   * @param config The discipline's type and options.
   * @param context What the discipline is built with beside its options: `clock` and `random`.
   * @returns A new discipline, for one queue.
   * @throws {ConfigError} If the config is not right; with everything that is wrong. Nothing was built in that case.
   * @throws {TypeError} If the context is not right.
   */
  override build<T>(config: DisciplineConfig, context?: BuildContext): QueueDiscipline<T>;
  /**
   * Builds a discipline that is not built in, or that such a discipline is nested in. Options of disciplines that are
   * not built in are checked when this is called, and not by the compiler.
   *
   * @typeParam T The type of the items.
   * @typeParam C The type of the config itself.
   * @param config The discipline's type and options.
   * @param context What the discipline is built with beside its options: `clock` and `random`.
   * @returns A new discipline, for one queue.
   * @throws {ConfigError} If the config is not right; with everything that is wrong. Nothing was built in that case.
   * @throws {TypeError} If the context is not right.
   */
  override build<T, const C = CustomConfig>(
    config: C & CheckedDisciplineConfig<C>,
    context?: BuildContext,
  ): QueueDiscipline<T>;
  override build(config: unknown, context?: BuildContext): QueueDiscipline<unknown> {
    return super.build(config, context);
  }

  /**
   * Checks the config of a discipline and gives it as data: defaults filled in, lengths of time in milliseconds.
   * Nothing is built.
   *
   * @param config The discipline's type and options, as `build` takes them.
   * @param context What disciplines are built with, for `create` of the description.
   * @returns The description. Its paths are JSON Pointers into the config.
   * @throws {ConfigError} If the config is not right; with everything that is wrong.
   * @throws {TypeError} If the context is not right.
   */
  override describe(config: DisciplineConfig, context?: BuildContext): DisciplineDescription;
  /**
   * Describes a discipline that is not built in, or that such a discipline is nested in.
   *
   * @typeParam C The type of the config itself.
   * @param config The discipline's type and options, as `build` takes them.
   * @param context What disciplines are built with, for `create` of the description.
   * @returns The description. Its paths are JSON Pointers into the config.
   * @throws {ConfigError} If the config is not right; with everything that is wrong.
   * @throws {TypeError} If the context is not right.
   */
  override describe<const C = CustomConfig>(
    config: C & CheckedDisciplineConfig<C>,
    context?: BuildContext,
  ): DisciplineDescription;
  override describe(config: unknown, context?: BuildContext): DisciplineDescription {
    return super.describe(config, context);
  }
}
