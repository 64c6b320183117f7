/** Shell in which the scripts on pages can run the `workqueue` command. */

import { commandOn, ROOT, Workspace } from "../cli/cli.ts";

const DEADLINE = 120_000;

/**
 * Opens a directory that contains the examples. `variables` are added to the environment of scripts. Scripts in it can
 * run the command as `workqueue`. There, `workqueue` is an executable and not a shell function, so scripts can kill it
 * through `$PPID`.
 */
export async function openShell(
  variables: Readonly<Record<string, string>> = {},
): Promise<{ workspace: Workspace; run(script: string): Promise<string> }> {
  const workspace = new Workspace();
  Deno.symlinkSync(`${ROOT}examples`, `${workspace.directory}/examples`);
  const command = (await commandOn("Deno")).map((part) => `'${part}'`);
  const programs = await Deno.makeTempDir({ dir: workspace.directory, prefix: "." });
  Deno.writeTextFileSync(`${programs}/workqueue`, `#!/bin/sh\nexec ${command.join(" ")} "$@"\n`, { mode: 0o755 });
  const run = async (script: string) => {
    const { stdout } = await new Deno.Command("sh", {
      args: ["-c", `exec 2>&1\n${script}`],
      cwd: workspace.directory,
      env: { PATH: `${programs}:${Deno.env.get("PATH")}`, NO_COLOR: "1", ...variables },
      signal: AbortSignal.timeout(DEADLINE),
    }).output();
    return new TextDecoder().decode(stdout);
  };
  return { workspace, run };
}
