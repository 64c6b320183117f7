/**
 * The command of the clone as a bundle. A process that runs the bundle takes half the processor time until the command
 * begins, and the tests start the command about a thousand times.
 */

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ROOT, run } from "../../release/commands.ts";
import { packedOnce } from "../../release/packed.ts";
import { runtimes } from "../runtimes.ts";
import { testArguments } from "../std/arguments.ts";

const MODULE = fileURLToPath(new URL("packages/cli/workqueue.ts", ROOT));

/** Whether this process is one of many that share a bundle. For a few tests, bundling takes longer than it saves. */
const isShared = Deno.env.has("WORKQUEUE_PACKED");

/**
 * Returns the start of a command line that runs the command of the clone: a bundle in a run of all tests, else the
 * module itself.
 */
export async function commandOfClone(runtime: string): Promise<string[]> {
  const start = await runtimes[runtime]!();
  if (!isShared) return [...start, MODULE];
  const folder = await packedOnce("bundle of packages/cli", async (folder) => {
    const options = ["--quiet", "--platform", "deno", "--code-splitting", "--outdir", folder];
    await run(Deno.execPath(), ["bundle", ...testArguments, ...options, MODULE], ROOT);
  });
  const bundle = join(folder, "workqueue.js");
  // A bundle needs no config, as an installed command, and Deno starts sooner if it doesn't read the workspace.
  return runtime === "Deno" ? [start[0]!, "run", "--quiet", "--no-config", "-A", bundle] : [...start, bundle];
}
