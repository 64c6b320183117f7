/**
 * Runs `deno check` with the given arguments, and with the examples on pages that `deno check --doc` leaves out: blocks
 * that are marked `ignore`, because `deno test --doc` can't run them. A check of their own would check the packages
 * again.
 */

import { fileURLToPath } from "node:url";
import { ROOT } from "../../release/commands.ts";
import { testArguments } from "../std/arguments.ts";
import { filesShownIn } from "./markdown.ts";
import { read, redisExamples } from "./redis_examples.ts";

/** Pages that show the files of a program, and the other files on them, which need packages that are not installed. */
const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  "docs/extend.md": [],
  "docs/testing.md": ["vitest.test.ts", "bun.test.ts", "node.test.ts"],
};

/** Folder for the examples. It stays, so that another check of the same files takes no time. Git ignores it. */
const FOLDER = new URL("deno.examples/", ROOT);
const files: string[] = [];

/** Writes an example to a folder that has the name of its page or module, without dots, because it is a folder. */
function write(file: string, name: string, text: string): void {
  const url = new URL(`${file.replaceAll(".", "_")}/${name}`, FOLDER);
  Deno.mkdirSync(new URL(".", url), { recursive: true });
  Deno.writeTextFileSync(url, text);
  files.push(fileURLToPath(url));
}

for (const [file, codes] of redisExamples) for (const [i, code] of codes.entries()) write(file, `${i}.ts`, code);
for (const [page, others] of Object.entries(PROGRAMS)) {
  for (const [name, text] of filesShownIn(read(page))) if (!others.includes(name)) write(page, name, text);
}
const args = ["check", ...testArguments, ...Deno.args, ...files];
const { code } = await new Deno.Command(Deno.execPath(), { args, cwd: ROOT }).spawn().status;
Deno.exit(code);
