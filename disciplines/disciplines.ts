import { registerExports } from "../registry/registry.ts";
import * as builtIns from "./built_ins.ts";
import { DisciplineRegistry } from "./discipline_registry.ts";

/** The default registry, with the built-in disciplines. */
// Left out of a bundle that does not use it
export const disciplines: DisciplineRegistry = /* @__PURE__ */ registerBuiltIns();

function registerBuiltIns(): DisciplineRegistry {
  return registerExports(new DisciplineRegistry(), builtIns);
}
