/**
 * Finds comments and lines of Lua that exceed the line width of code. `deno fmt` wraps neither.
 *
 * As a program it prints them, and fails if there are any: a part of `deno task style`.
 */

import manifest from "../../deno.json" with { type: "json" };
import { ROOT } from "../../release/commands.ts";
import { allModules } from "./modules.ts";

const MAX_COLUMNS = manifest.fmt.lineWidth;

/** Generated modules, which nobody reads. */
const GENERATED: readonly string[] = ["packages/dashboard/page.ts"];

/** Folder of modules with Lua, in which every line counts. */
const LUA = "packages/redis/scripts/";

/** Line that begins or continues a comment. */
const COMMENT = /^\s*(\/\/|\/\*|\*\s)/;

/** Comment after code. */
const TRAILING_COMMENT = /\s\/\/\s/;

/** Returns the positions of lines that are too long in a module, as `path:line: … columns`. */
export function longLinesIn(path: string, text: string): string[] {
  if (GENERATED.includes(path)) return [];
  return text.split("\n").flatMap((line, i) => {
    const columns = [...line].length;
    if (columns <= MAX_COLUMNS) return [];
    const counts = path.startsWith(LUA) || COMMENT.test(line) || TRAILING_COMMENT.test(line);
    return counts ? [`${path}:${i + 1}: ${columns} columns`] : [];
  });
}

/** Returns the positions of all lines in the repository that are too long. */
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
