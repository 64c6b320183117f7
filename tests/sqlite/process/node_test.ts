/** Test of the package on Node 20, which has no SQLite. */

import { assertEquals, assertMatch } from "@std/assert";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "../../bundle.ts";
import { Folder } from "../files.ts";

const ROOT = new URL("../../../", import.meta.url);

Deno.test("SQLite: on Node 20, the error names the runtimes that have SQLite", async () => {
  using folder = new Folder();
  const { exports, imports } = JSON.parse(Deno.readTextFileSync(new URL("deno.all.json", ROOT)));
  const core = Object.entries(exports as Record<string, string>)
    .map(([path, file]) => [`@workqueue/core${path.slice(1)}`, fileURLToPath(new URL(file, ROOT))]);
  const alias = {
    ...Object.fromEntries(core),
    "@workqueue/engine": fileURLToPath(new URL(imports["@workqueue/engine"], ROOT)),
  };
  const contents = `import { createSqliteQueue } from "./mod.ts";
    for (const thread of [false, true]) {
      try {
        createSqliteQueue({ name: "q", path: ${JSON.stringify(folder.path)}, thread });
      } catch (error) {
        console.log(error.message);
      }
    }`;
  const resolveDir = fileURLToPath(new URL("packages/sqlite/", ROOT));
  const program = join(folder.path, "..", "program.mjs");
  writeFileSync(program, await bundle({ stdin: { contents, resolveDir, loader: "ts" }, platform: "node", alias }));
  const { stdout, stderr } = spawnSync("npx", ["-y", "node@20", program], { encoding: "utf8" });
  const lines = stdout.trim().split("\n");
  assertEquals(lines.length, 2, stderr);
  for (const line of lines) {
    assertMatch(line, /this runtime has no node:sqlite. Use Deno, Bun, or Node 22\.13 or later$/);
  }
});
