/**
 * Writes the files that are generated from the code: all of them, or only the files whose paths begin with one of the
 * arguments.
 *
 * @module
 */

import { mkdirSync, writeFileSync } from "node:fs";
import process from "node:process";
import { files } from "./files.ts";

const root = new URL("../../", import.meta.url);
const prefixes = process.argv.slice(2);

for (const [path, make] of Object.entries(files)) {
  if (prefixes.length > 0 && !prefixes.some((prefix) => path.startsWith(prefix))) continue;
  const file = new URL(path, root);
  mkdirSync(new URL(".", file), { recursive: true });
  writeFileSync(file, await make());
  console.log(path);
}
