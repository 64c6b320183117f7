/** Tests of the table in docs/errors.md, which must list exactly the codes of thrown errors. */

import { assert, assertEquals } from "@std/assert";
import type { Tokens } from "marked";
import { ERROR_CODES } from "../../lib/base/error_codes.ts";
import { tokensOf } from "./markdown.ts";

const root = new URL("../../", import.meta.url);
const DECLARATION = "lib/base/error_codes.ts";

/** Yields the modules of the core and its packages, except the dashboard's generated page. */
async function* modulesIn(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(new URL(folder, root))) {
    if (isDirectory && name !== "node_modules") yield* modulesIn(`${folder}${name}/`);
    else if (/\.tsx?$/.test(name) && `${folder}${name}` !== "packages/dashboard/page.ts") yield `${folder}${name}`;
  }
}

/** Returns a map from the path of each module to its source code without comments. */
async function sources(): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const folder of ["lib/", "registry/", "limiters/", "disciplines/", "config/", "packages/"]) {
    for await (const path of modulesIn(folder)) {
      const source = await Deno.readTextFile(new URL(path, root));
      found.set(path, source.replace(/\/\*[^]*?\*\//g, ""));
    }
  }
  return found;
}

const modules = await sources();

/**
 * Modules that create errors without a code. An error without a code is the cause of another error, or reports a limit
 * of the runtime.
 */
const WITHOUT_CODE = [
  "lib/base/parted_map.ts",
  "packages/engine/items.ts",
  "packages/redis/scripts/declare.ts",
  "packages/redis/scripts/lua_files.ts",
];

Deno.test("docs/errors.md: the table has every code with its meaning and what to do", async () => {
  const tokens = tokensOf(await Deno.readTextFile(new URL("docs/errors.md", root)));
  const table = tokens.find((token): token is Tokens.Table => token.type === "table")!;
  const rows = table.rows.map((cells) => cells.map(({ text }) => text));
  assertEquals(
    rows.map(([code, meaning]) => [code, meaning]),
    Object.entries(ERROR_CODES).map(([code, meaning]) => [
      `\`${code}\``,
      meaning,
    ]),
  );
  for (const [code, , whatToDo] of rows) assert(whatToDo!.length > 20, code);
});

Deno.test("docs/errors.md: every code that is set is in the table, and every code in the table is set", () => {
  const set = new Set<string>();
  for (const [path, source] of modules) {
    if (path === DECLARATION) continue;
    for (const [, code] of source.matchAll(/"(WQ_\w+)"/g)) set.add(code!);
  }
  assertEquals([...set].sort(), Object.keys(ERROR_CODES).sort());
});

Deno.test("docs/errors.md: no TypeError or RangeError is created without a code, except those that no caller gets", () => {
  const isUsersConcern = (path: string) => !/^packages\/(cli|\w+\/demo)\//.test(path); // the command prints its errors
  const found = [...modules].filter(([path, source]) =>
    isUsersConcern(path) && /(?<!withCode\("WQ_\w+", )new (TypeError|RangeError)\(/.test(source)
  );
  assertEquals(found.map(([path]) => path).sort(), WITHOUT_CODE);
});
