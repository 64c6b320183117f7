import * as builtIns from "./built_ins.ts";
import { LimiterRegistry } from "./limiter_registry.ts";

/** Default registry, with the built-in limiters. */
// Bundlers drop the registry if it is unused.
export const limiters: LimiterRegistry = /* @__PURE__ */ new LimiterRegistry(builtIns);

let unchanged: LimiterRegistry | undefined;

/** Returns a registry with only the built-in limiters, regardless of types registered with the default registry. */
export function builtInLimiters(): Pick<LimiterRegistry, "get" | "types"> {
  return unchanged ??= new LimiterRegistry(builtIns);
}
