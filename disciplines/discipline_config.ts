/**
 * Types of discipline configs.
 *
 * @module
 */

import type { CheckedPartConfig, DeclaredOptions, PartConfig } from "../registry/part_config.ts";
import type * as builtIns from "./built_ins.ts";

/** Declared options of each built-in discipline, by type. */
export type BuiltInDisciplineOptions = DeclaredOptions<typeof builtIns>;

/** Types of nested configs, by kind of part. */
export interface DisciplineInputs {
  /** A discipline. */
  discipline: DisciplineConfig;
}

/**
 * Config of a discipline: an object with its `type` and its options.
 *
 * @example Usage
 * ```ts
 * import { createWorkQueue, type DisciplineConfig, disciplines } from "@workqueue/core";
 * import { assertEquals } from "@std/assert";
 *
 * const config: DisciplineConfig = { type: "priority", maxHeadStart: "unlimited" };
 * const queue = createWorkQueue<string>({ discipline: disciplines.build(config) });
 * queue.add("a");
 * assertEquals(queue.length, 1);
 * ```
 */
export type DisciplineConfig = PartConfig<BuiltInDisciplineOptions, DisciplineInputs>;

/**
 * Type that a config of type `C` must have. A built-in discipline, nested or not, must have its required options and no
 * undeclared options. Options of custom disciplines are not checked.
 */
export type CheckedDisciplineConfig<C> = CheckedPartConfig<C, BuiltInDisciplineOptions, "discipline", DisciplineConfig>;
