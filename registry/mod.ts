/**
 * Registries of part types, and the kinds of their options. The packages of this repository share these internals, so
 * that other documents are read, checked and described like configs. **Unstable:** this entry point may change in any
 * release. Only packages of this repository should use this entry point, because each of them requires exactly this
 * version of the core.
 *
 * @example Usage
 * ```ts
 * import { ConfigReader } from "@workqueue/core/internal/registry";
 * import { assertEquals } from "@std/assert";
 *
 * const reader = new ConfigReader("read settings");
 * const { plain } = reader.readOptions({ pause: { kind: "duration", description: "Pause." } }, { pause: "2s" }, "");
 * assertEquals(plain, { pause: 2000 });
 * ```
 *
 * @module
 */

export { buildOptions } from "./build.ts";
export { partContextOf } from "./definition.ts";
export { groupOfKey } from "./grouping.ts";
export { ConfigReader, type PartSource } from "./reader.ts";
export { optionsSchema, partSchemas, SCHEMA_DIALECT } from "./schema.ts";
// Exported because the types above refer to these types, directly or indirectly.
export type { Clock } from "../lib/base/clock.ts";
export type { Duration } from "../lib/base/duration.ts";
export type { ConfigIssue } from "../lib/base/errors.ts";
export type { Random } from "../lib/base/random.ts";
export type { Building } from "./build.ts";
export type { BrokenRule, BuildContext, PartContext, PartDefinition, PartKind } from "./definition.ts";
export type * from "./fields.ts";
export type { NameNode, OptionsTree, PartNode, PartTree } from "./tree.ts";
export type { Updating } from "./updates.ts";
