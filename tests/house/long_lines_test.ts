/** Tests of the line width of comments and Lua. */

import { assert, assertEquals } from "@std/assert";
import { allLongLines, longLinesIn } from "./long_lines.ts";
import { allModules } from "./modules.ts";

/** Returns a line with a number of columns that starts with `begin`. */
function line(begin: string, columns: number): string {
  return begin.padEnd(columns, "x");
}

Deno.test("long lines: comments have at most as many columns as code", () => {
  for (const begin of ["// ", "  // ", "/* ", "/** ", " * ", "   * ", "const a = 1; // "]) {
    assertEquals(longLinesIn("lib/a.ts", line(begin, 120)), [], begin);
    assertEquals(longLinesIn("lib/a.ts", `\n${line(begin, 121)}\n`), ["lib/a.ts:2: 121 columns"], begin);
  }
});

Deno.test("long lines: a character is a column, however it is stored", () => {
  assertEquals(longLinesIn("lib/a.ts", line("// → 🎉 ", 121)), []);
  assertEquals(longLinesIn("lib/a.ts", line("// → 🎉 ", 122)), ["lib/a.ts:1: 121 columns"]);
});

Deno.test("long lines: code may be longer, as a text that cannot be wrapped", () => {
  assertEquals(longLinesIn("lib/a.ts", line('const url = "https://', 200)), []);
  assertEquals(longLinesIn("lib/a.ts", line("**Bold** in a template", 200)), []);
  assertEquals(longLinesIn("packages/dashboard/page.ts", line("// ", 200)), [], "it is generated");
});

Deno.test("long lines: all lines of Lua count", () => {
  const place = "packages/redis/scripts/turn.ts";
  for (const begin of ["  -- ", "  local key = "]) {
    assertEquals(longLinesIn(place, line(begin, 120)), [], begin);
    assertEquals(longLinesIn(place, line(begin, 121)), [`${place}:1: 121 columns`], begin);
  }
});

Deno.test("long lines: there are none in the repository", async () => {
  const modules = allModules();
  assert(modules.length > 500 && modules.some((path) => path.endsWith(".tsx")));
  assertEquals(await allLongLines(), []);
});
