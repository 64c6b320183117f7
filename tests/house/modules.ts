/** Modules of the repository, for the house rules. */

import { ROOT } from "../../release/commands.ts";

const FOLDERS = [
  "lib",
  "registry",
  "limiters",
  "disciplines",
  "throttles",
  "config",
  "packages",
  "tests",
  "bench",
  "docs",
  "examples",
  "release",
];

/** Returns the paths of all modules in the repository. A missing folder, as in a partial copy, has no modules. */
export function allModules(): string[] {
  return ["mod.ts", ...FOLDERS.flatMap(modulesIn)];
}

function modulesIn(folder: string): string[] {
  return entriesOf(folder).flatMap(({ name, isDirectory }) => {
    if (name === "node_modules") return [];
    const path = `${folder}/${name}`;
    return isDirectory ? modulesIn(path) : /\.m?[jt]sx?$/.test(name) ? [path] : [];
  });
}

function entriesOf(folder: string): Deno.DirEntry[] {
  try {
    return [...Deno.readDirSync(new URL(folder, ROOT))];
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}
