import { hasMethods } from "../lib/base/arguments.ts";
import { invalidArgument } from "../lib/base/errors.ts";
import type { DisciplineRegistry } from "../disciplines/discipline_registry.ts";
import { disciplines } from "../disciplines/disciplines.ts";
import type { LimiterRegistry } from "../limiters/limiter_registry.ts";
import { limiters } from "../limiters/limiters.ts";
import { own } from "../registry/objects.ts";

/** The registries that a document may be read with. */
export interface Registries {
  readonly limiters: LimiterRegistry;
  readonly disciplines: DisciplineRegistry;
}

/** The registries among some options, or the default ones. A registry may come from another copy of this package. */
export function registriesOf(
  action: string,
  options: { [K in keyof Registries]?: Registries[K] | undefined },
): Registries {
  return {
    limiters: registryOf(action, options, "limiters", limiters),
    disciplines: registryOf(action, options, "disciplines", disciplines),
  };
}

function registryOf<R>(action: string, options: object, option: keyof Registries, preset: R): R {
  const registry = own(options, option);
  if (registry === undefined) return preset;
  if (!hasMethods(registry, "get", "types", "jsonSchema")) {
    throw invalidArgument(action, option, `must be a registry of ${option}`, registry);
  }
  return registry as R;
}
