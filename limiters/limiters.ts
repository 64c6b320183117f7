import { hasMethods } from "../lib/base/arguments.ts";
import * as builtIns from "./built_ins.ts";
import type { LimiterDefinition } from "./definition.ts";
import { LimiterRegistry } from "./limiter_registry.ts";

/** The default registry, with the built-in limiters. */
export const limiters: LimiterRegistry = /* @__PURE__ */ registerBuiltIns(); // left out of a bundle that does not use it

function registerBuiltIns(): LimiterRegistry {
  const registry = new LimiterRegistry();
  for (const value of Object.values<unknown>(builtIns)) if (isDefinition(value)) registry.register(value);
  return registry;
}

/** Tells a definition from the other exports of a limiter's file: its function, and its options by themselves. */
function isDefinition(value: unknown): value is LimiterDefinition {
  return hasMethods(value, "create");
}
