/** Definitions of limiters for tests of the registry. */

import {
  type BuildContext,
  defineLimiter,
  type LimiterDefinition,
  type LimiterFields,
  type LimiterOptions,
  type LimiterRegistry,
  limiters,
  type RateLimiter,
} from "@workqueue/core";
import { configSchema } from "@workqueue/core/config";
import { Ajv2020 } from "ajv/dist/2020.js";

/** Types in the default registry, as messages list them. */
export const TYPES = limiters.types().map((type) => `"${type}"`).join(", ");

export const CONSTANT: RateLimiter = { when: () => 7, forget() {}, numRequeues: () => 0 };

/** Returns a type of limiter that has the given options and that records the arguments of `create`. */
export function spy<const F extends LimiterFields>(options: F, type = "spy") {
  const created: { options: LimiterOptions<F>; context: BuildContext }[] = [];
  const definition = defineLimiter({
    type,
    description: "Writes down what it is created with.",
    options,
    create: (options, context) => {
      created.push({ options, context });
      return CONSTANT;
    },
  });
  const registry = limiters.extend().register(definition);
  return {
    created,
    definition,
    registry,
    /** Builds a limiter from options, including options that the types don't allow. */
    build: (config: object) => registry.build({ type, ...config } as { type: "spy" }),
  };
}

/** Returns the definition of a limiter with some members replaced. */
export function parts(spoilt: object): LimiterDefinition {
  return { type: "custom", description: "", options: {}, create: () => CONSTANT, ...spoilt };
}

/** Returns the schema of a limiter of a registry. */
export function schemaOf(registry: LimiterRegistry): object {
  const { $schema, $defs } = configSchema({ limiters: registry });
  return { $schema, $ref: "#/$defs/limiter", $defs };
}

/** Returns the parts of the registry's schema that describe the individual types of limiters. */
export function variants(registry: LimiterRegistry) {
  type Property = { const?: string; description?: string; default?: unknown };
  type Variant = { description: string; required: string[]; properties: Record<string, Property> };
  const { $defs } = schemaOf(registry) as {
    $defs: {
      limiter: { properties: { type: { anyOf: Property[] } }; allOf: [types: unknown, ...{ then: Variant }[]] };
    };
  };
  const { properties, allOf } = $defs.limiter;
  const [, ...branches] = allOf;
  return branches.map(({ then }, i) => ({ type: properties.type.anyOf[i]!, then }));
}

/** Returns a function that reports whether a config is valid under the registry's schema. */
export function compile(registry: LimiterRegistry): (config: unknown) => boolean {
  // With `strictNumbers`, the validator itself would reject infinite numbers. It is off, because the schema must reject
  // them.
  return new Ajv2020({ strict: true, strictNumbers: false }).compile(schemaOf(registry));
}
