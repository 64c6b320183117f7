/** What the pages on the command show is what it does: each block of `sh` prints the block of text that follows it. */

import { assert, assertEquals } from "@std/assert";
import type { Tokens } from "marked";
import { ROOT, runtimes, Workspace } from "../cli/cli.ts";
import { tokensOf } from "./markdown.ts";

const PAGES = ["docs/command_parts_subcommands.md"];

/** A shell in which `workqueue` is the command, in a folder with the examples. */
async function run(workspace: Workspace, script: string): Promise<string> {
  const command = [...await runtimes["Deno"]!(), `${ROOT}packages/cli/workqueue.ts`].map((part) => `'${part}'`).join(
    " ",
  );
  const { stdout, stderr } = await new Deno.Command("sh", {
    args: ["-c", `workqueue() { ${command} "$@"; }\n${script}`],
    cwd: workspace.directory,
  }).output();
  assertEquals(new TextDecoder().decode(stderr), "");
  return new TextDecoder().decode(stdout).trimEnd();
}

for (const page of PAGES) {
  Deno.test(`${page}: each command prints what is shown below it`, async () => {
    await using workspace = new Workspace();
    Deno.symlinkSync(`${ROOT}examples`, `${workspace.directory}/examples`);
    const blocks = tokensOf(Deno.readTextFileSync(ROOT + page)).filter((token) => token.type !== "space");
    let count = 0;
    for (const [i, token] of blocks.entries()) {
      if (token.type !== "code" || (token as Tokens.Code).lang !== "sh") continue;
      const next = blocks[i + 1] as Tokens.Code | undefined;
      const expected = next?.type === "code" && next.lang === "text" ? next.text : "";
      assertEquals(await run(workspace, (token as Tokens.Code).text), expected);
      count++;
    }
    assert(count > 3);
  });
}
