/**
 * Disciplines, which decide which ready item is handed out next, and their registry. Without a discipline, a queue is
 * first in, first out.
 *
 * Each discipline has a function that creates it, such as {@linkcode createPriorityDiscipline}, and a type, which is
 * its name in configs, such as `"priority"`. Queues can't share a discipline.
 *
 * {@linkcode disciplines} builds disciplines from config. {@linkcode defineDiscipline} declares a custom discipline.
 *
 * @example Usage
 * ```ts
 * import { disciplines } from "@workqueue/core/disciplines";
 * import { createWorkQueue } from "@workqueue/core/work-queue";
 * import { assertEquals } from "@std/assert";
 *
 * const queue = createWorkQueue<string>({ discipline: disciplines.build({ type: "fair", separator: "/" }) });
 * for (const key of ["big/1", "big/2", "big/3", "small/1"]) queue.add(key);
 * assertEquals([queue.tryGet()?.item, queue.tryGet()?.item], ["big/1", "small/1"]);
 * ```
 *
 * @module
 */

export { ConfigError, type ConfigIssue } from "../lib/base/errors.ts";
export * from "./built_ins.ts";
export { defineDiscipline } from "./definition.ts";
export type * from "./discipline_config.ts";
export { DisciplineRegistry, disciplineRegistry } from "./discipline_registry.ts";
export { disciplines } from "./disciplines.ts";
export type * from "./types.ts";
export type * from "../registry/part_config.ts";
export { Registry } from "../registry/registry.ts";
