/**
 * The type of a discipline's config.
 *
 * @module
 */

import type { CheckedPartConfig, DeclaredOptions, PartConfig } from "../registry/part_config.ts";
import type * as builtIns from "./built_ins.ts";

/** The declared options of each built-in discipline, by type. */
export type BuiltInDisciplineOptions = DeclaredOptions<typeof builtIns>;

/** What is written where an option takes another part, by the kind of part. */
export interface DisciplineInputs {
  /** A discipline. */
  discipline: DisciplineConfig;
}

/**
 * The config of a discipline: an object with its `type` and its options.
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
 * What a config has to be, given its own type `C`: disciplines that are built in have the options that they declare and
 * no others, however deep they are nested. Nothing is known of other disciplines.
 */
export type CheckedDisciplineConfig<C> = CheckedPartConfig<C, BuiltInDisciplineOptions, "discipline", DisciplineConfig>;
