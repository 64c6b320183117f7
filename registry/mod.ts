/**
 * Internals that the packages of this repository share, so that other documents are read, checked and described like
 * configs. **Unstable:** this entry point may change in any release. Only packages of this repository should use this
 * entry point, because each of them requires exactly this version of the core.
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

export { Builder } from "./build.ts";
export type { BuildContext, PartDefinition, PartKind } from "./definition.ts";
export type { Fields, OptionsInput, OptionsOf } from "./fields.ts";
export { ConfigReader, type PartSource } from "./reader.ts";
export { optionsSchema, partSchemas, SCHEMA_DIALECT } from "./schema.ts";
export type { OptionsTree, PartNode, PartTree } from "./tree.ts";
