/**
 * Finds comments and lines of Lua that are longer than lines of code may be. `deno fmt` wraps neither.
 *
 * As a program it prints them, and fails if there are any: a part of `deno task style`.
 */

import manifest from "../../deno.json" with { type: "json" };
import { ROOT } from "../../release/commands.ts";
import { allModules } from "./modules.ts";

const MAX_COLUMNS = manifest.fmt.lineWidth;

/** Modules that are made by a program, and read by nobody. */
const GENERATED: readonly string[] = ["packages/dashboard/page.ts"];

/** Folder of modules that hold Lua: all of their lines count. */
const LUA = "packages/redis/scripts/";

/** Line that begins with a comment, or goes on with one. */
const COMMENT = /^\s*(\/\/|\/\*|\*\s)/;

/** Comment after code. */
const TRAILING_COMMENT = /\s\/\/\s/;

/** Returns the places of the lines in a module that are too long, as `path:line: … columns`. */
export function longLinesIn(path: string, text: string): string[] {
  if (GENERATED.includes(path)) return [];
  return text.split("\n").flatMap((line, i) => {
    const columns = [...line].length;
    if (columns <= MAX_COLUMNS) return [];
    const counts = path.startsWith(LUA) || COMMENT.test(line) || TRAILING_COMMENT.test(line);
    return counts ? [`${path}:${i + 1}: ${columns} columns`] : [];
  });
}

/** Returns the places of all lines in the repository that are too long. */
export async function allLongLines(): Promise<string[]> {
  const found = allModules().map(async (path) => longLinesIn(path, await Deno.readTextFile(new URL(path, ROOT))));
  return (await Promise.all(found)).flat();
}

if (import.meta.main) {
  const places = await allLongLines();
  if (places.length > 0) {
    console.error(places.join("\n"));
    console.error(`Found ${places.length} comments or lines of Lua over ${MAX_COLUMNS} columns: wrap them`);
    Deno.exit(1);
  }
}
