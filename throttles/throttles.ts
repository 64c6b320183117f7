import * as builtIns from "./built_ins.ts";
import { ThrottleRegistry } from "./throttle_registry.ts";

/** Default registry, with the built-in throttles. */
// Bundlers drop the registry if it is unused.
export const throttles: ThrottleRegistry = /* @__PURE__ */ new ThrottleRegistry(builtIns);

let unchanged: ThrottleRegistry | undefined;

/** Returns a registry with only the built-in throttles, regardless of types registered with the default registry. */
export function builtInThrottles(): Pick<ThrottleRegistry, "get" | "types"> {
  return unchanged ??= new ThrottleRegistry(builtIns);
}
