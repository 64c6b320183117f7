/**
 * Tests of the plugin in `docs/extend.md`. The plugin works in a program and in the command, and both print the output
 * that the page shows. `check.ts` checks their types.
 */

import { assertEquals } from "@std/assert";
import type { Tokens } from "marked";
import { run } from "../../release/commands.ts";
import { ROOT } from "../cli/cli.ts";
import { testArguments } from "../std/arguments.ts";
import { filesShownIn, tokensOf } from "./markdown.ts";
import { openShell } from "./shell.ts";

const page = Deno.readTextFileSync(`${ROOT}docs/extend.md`);
const files = filesShownIn(page);
const blocks = tokensOf(page).filter((token): token is Tokens.Code => token.type === "code");
const [shownByProgram, shownByCommand] = blocks.filter(({ lang }) => lang === "text").map(({ text }) => text);
const [script] = blocks.filter(({ lang }) => lang === "sh").map(({ text }) => text);

Deno.test("docs/extend.md: the plugin works in a program and in the command", async () => {
  const { workspace, run: runScript } = await openShell();
  await using _ = workspace;
  assertEquals([...files.keys()], ["linear_plugin.ts", "program.ts"]);
  for (const [name, text] of files) workspace.write(name, text);
  const program = `${workspace.directory}/program.ts`;
  const { stdout } = await run(Deno.execPath(), ["run", "--no-check", ...testArguments, program], ROOT);
  assertEquals(stdout.trimEnd(), shownByProgram);
  assertEquals((await runScript(script!)).trimEnd(), shownByCommand);
});
