/** The modules of the repository, for the rules of the house. */

import { ROOT } from "../../release/commands.ts";

const FOLDERS = [
  "lib",
  "registry",
  "limiters",
  "disciplines",
  "config",
  "packages",
  "tests",
  "bench",
  "docs",
  "examples",
  "release",
];

/** Returns the paths of all modules in the repository. A folder that is not there, as in a part of it, has none. */
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
