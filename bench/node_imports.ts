/** Lets Node import the packages of this repository from the sources. Load this module with `node --import`. */

import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";

const ROOT = new URL("../", import.meta.url);

/** Files by specifier, which `tsconfig.json` lists for Bun. */
const { paths } = JSON.parse(readFileSync(new URL("tsconfig.json", ROOT), "utf8")).compilerOptions as {
  paths: Readonly<Record<string, readonly [file: string]>>;
};

registerHooks({
  resolve: (specifier, context, next) =>
    Object.hasOwn(paths, specifier)
      ? { url: new URL(paths[specifier]![0], ROOT).href, shortCircuit: true }
      : next(specifier, context),
});
