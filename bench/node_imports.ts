/** Lets Node import `@workqueue/core` from the sources. Load this module with `node --import`. */

import { registerHooks } from "node:module";

const CORE = new URL("../mod.ts", import.meta.url).href;

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === "@workqueue/core" ? { url: CORE, shortCircuit: true } : next(specifier, context),
});
