import { registerExports } from "../registry/register_exports.ts";
import * as builtIns from "./built_ins.ts";
import { LimiterRegistry } from "./limiter_registry.ts";

/** The default registry, with the built-in limiters. */
export const limiters: LimiterRegistry = /* @__PURE__ */ registerBuiltIns(); // left out of a bundle that does not use it

/** A registry with the built-in limiters and no others, whatever becomes of the default one. */
export function registerBuiltIns(): LimiterRegistry {
  return registerExports(new LimiterRegistry(), builtIns);
}
