import { requireOptions } from "../lib/base/arguments.ts";
import { disciplineKind } from "../disciplines/definition.ts";
import type { DisciplineRegistry } from "../disciplines/discipline_registry.ts";
import { limiterKind } from "../limiters/definition.ts";
import type { LimiterRegistry } from "../limiters/limiter_registry.ts";
import { optionsSchema, partSchemas, SCHEMA_DIALECT } from "../registry/schema.ts";
import { throttleKind } from "../throttles/definition.ts";
import type { ThrottleRegistry } from "../throttles/throttle_registry.ts";
import { defaultRegistries } from "./default_registries.ts";
import { FORBIDDEN_NAMES, registriesOf } from "./document.ts";
import { queueOptions } from "./queue_options.ts";

/** Options of {@linkcode configSchema}. */
export interface ConfigSchemaOptions {
  /**
   * Registry of the limiter types that a document may use.
   *
   * @default {limiters}
   */
  limiters?: LimiterRegistry | undefined;
  /**
   * Registry of the discipline types that a document may use.
   *
   * @default {disciplines}
   */
  disciplines?: DisciplineRegistry | undefined;
  /**
   * Registry of the throttle types that a document may use.
   *
   * @default {throttles}
   */
  throttles?: ThrottleRegistry | undefined;
}

/**
 * Returns a JSON Schema (draft 2020-12) for config documents, with the currently registered limiter, throttle and
 * discipline types. Write the schema to a file, and refer to the file with `$schema` in a config. The schemas of single
 * parts are `$defs.limiter`, `$defs.throttle` and `$defs.discipline`.
 *
 * @example Usage
 * ```ts
 * import { configSchema } from "@workqueue/core/config";
 * import { assertEquals } from "@std/assert";
 *
 * assertEquals(Object.keys(configSchema().properties as object), ["$schema", "limiters", "throttles", "queues"]);
 * ```
 *
 * @param options The registries of limiter, throttle and discipline types.
 * @returns The schema.
 * @throws {TypeError} If an option is unknown or has the wrong type.
 */
export function configSchema(options: ConfigSchemaOptions = {}): Record<string, unknown> {
  requireOptions("describe config", options, ["limiters", "disciplines", "throttles"]);
  const { limiters, disciplines, throttles } = registriesOf("describe config", options, defaultRegistries());
  const byName = (schema: object, description: string) => ({
    type: "object",
    description,
    propertyNames: { not: { enum: FORBIDDEN_NAMES } },
    additionalProperties: schema,
  });
  return {
    $schema: SCHEMA_DIALECT,
    title: "Work queues and their rate limiters",
    type: "object",
    properties: {
      $schema: { type: "string", description: "Path or URL of the JSON Schema of this document, for editors." },
      limiters: byName({ $ref: "#/$defs/limiterOrName" }, "Limiters, by the names that queues and other limiters use."),
      throttles: byName(
        { $ref: "#/$defs/throttleOrName" },
        "Throttles, by the names that queues and other throttles use.",
      ),
      queues: byName({ $ref: "#/$defs/queue" }, "Queues, by name."),
    },
    additionalProperties: false,
    $defs: {
      ...partSchemas(limiterKind, definitionsIn(limiters)),
      ...partSchemas(disciplineKind, definitionsIn(disciplines)),
      ...partSchemas(throttleKind, definitionsIn(throttles)),
      queue: optionsSchema(queueOptions, [limiterKind, disciplineKind, throttleKind]),
    },
  };
}

/** Returns the definitions of all types in a registry. */
function definitionsIn<Definition>(
  registry: { get(type: string): Definition | undefined; types(): string[] },
): Definition[] {
  return registry.types().map((type) => registry.get(type)!);
}
