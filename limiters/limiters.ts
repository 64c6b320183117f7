import { registerExports } from "../registry/registry.ts";
import * as builtIns from "./built_ins.ts";
import { LimiterRegistry } from "./limiter_registry.ts";

/** The default registry, with the built-in limiters. */
// Left out of a bundle that does not use it
export const limiters: LimiterRegistry = /* @__PURE__ */ registerBuiltIns();

let unchanged: LimiterRegistry | undefined;

/** Returns a registry with the built-in limiters and no others, whatever was registered with the default one. */
export function builtInLimiters(): Pick<LimiterRegistry, "get" | "types"> {
  return unchanged ??= registerBuiltIns();
}

function registerBuiltIns(): LimiterRegistry {
  return registerExports(new LimiterRegistry(), builtIns);
}
