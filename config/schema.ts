import { requireOptions } from "../lib/base/arguments.ts";
import { disciplineKind } from "../disciplines/definition.ts";
import type { DisciplineRegistry } from "../disciplines/discipline_registry.ts";
import { limiterKind } from "../limiters/definition.ts";
import type { LimiterRegistry } from "../limiters/limiter_registry.ts";
import { optionsSchema, partSchemas } from "../registry/schema.ts";
import { bucketDefinitions, bucketKind } from "./bucket_kind.ts";
import { FORBIDDEN_NAMES, registriesOf } from "./document.ts";
import { queueOptions } from "./queue_options.ts";

/** The options of {@linkcode configSchema}. */
export interface ConfigSchemaOptions {
  /**
   * The types of limiter that a document may use.
   *
   * @default {limiters}
   */
  limiters?: LimiterRegistry | undefined;
  /**
   * The types of discipline that a document may use.
   *
   * @default {disciplines}
   */
  disciplines?: DisciplineRegistry | undefined;
}

/**
 * Describes a config document as a JSON Schema (draft 2020-12), with the types of limiter and discipline that are
 * registered now. For a file that `$schema` in a config can point to.
 *
 * @example Usage
 * ```ts
 * import { configSchema } from "@workqueue/core/config";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(Object.keys(configSchema().properties as object), ["$schema", "limiters", "queues"]);
 * ```
 *
 * @param options The types of limiter and discipline that a document may use.
 * @returns The schema.
 * @throws {TypeError} If an option is unknown or of the wrong type.
 */
export function configSchema(options: ConfigSchemaOptions = {}): Record<string, unknown> {
  requireOptions("describe config", options, ["limiters", "disciplines"]);
  const { limiters, disciplines } = registriesOf("describe config", options);
  const { $schema, $defs } = limiters.jsonSchema();
  const byName = (schema: object, description: string) => ({
    type: "object",
    description,
    propertyNames: { not: { enum: FORBIDDEN_NAMES } },
    additionalProperties: schema,
  });
  return {
    $schema,
    title: "Work queues and their rate limiters",
    type: "object",
    properties: {
      $schema: { type: "string", description: "Where editors find the description of this document." },
      limiters: byName({ $ref: "#/$defs/limiterOrName" }, "Limiters, by the names that queues and other limiters use."),
      queues: byName({ $ref: "#/$defs/queue" }, "Queues, by name."),
    },
    additionalProperties: false,
    $defs: {
      ...$defs as object,
      ...disciplines.jsonSchema()["$defs"] as object,
      ...partSchemas(bucketKind, [bucketDefinitions.get()]),
      queue: optionsSchema(queueOptions, [limiterKind, disciplineKind, bucketKind]),
    },
  };
}
