import * as builtIns from "./built_ins.ts";
import { DisciplineRegistry } from "./discipline_registry.ts";

/** Default registry, with the built-in disciplines. */
// Bundlers drop the registry if it is unused.
export const disciplines: DisciplineRegistry = /* @__PURE__ */ new DisciplineRegistry(builtIns);
