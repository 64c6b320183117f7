import { registerExports } from "../registry/register_exports.ts";
import * as builtIns from "./built_ins.ts";
import { DisciplineRegistry } from "./discipline_registry.ts";

/** The default registry, with the built-in disciplines. */
export const disciplines: DisciplineRegistry = /* @__PURE__ */ registerBuiltIns(); // left out of a bundle that does not use it

function registerBuiltIns(): DisciplineRegistry {
  return registerExports(new DisciplineRegistry(), builtIns);
}
