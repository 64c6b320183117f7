import { hasMethods } from "../lib/base/arguments.ts";
import { invalidArgument } from "../lib/base/errors.ts";
import type { LimiterRegistry } from "../limiters/limiter_registry.ts";
import { limiters } from "../limiters/limiters.ts";
import { own } from "../registry/objects.ts";

/** The registry among some options, or the default one. A registry may come from another copy of this package. */
export function limitersOf(action: string, options: { limiters?: LimiterRegistry | undefined }): LimiterRegistry {
  const registry = own(options, "limiters");
  if (registry === undefined) return limiters;
  if (!hasMethods(registry, "get", "types", "jsonSchema")) {
    throw invalidArgument(action, "limiters", "must be a registry of limiters", registry);
  }
  return registry as LimiterRegistry;
}
