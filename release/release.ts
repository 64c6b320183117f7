/**
 * Checks whether a release can be made, and prints the steps that are left for a person.
 *
 * ```sh
 * npx -y deno task release --dry-run     # succeeds although addresses are missing in project.json, and lists them
 * npx -y deno task release               # fails if an address is missing
 * npx -y deno task release --tag v0.1.0  # also checks the tag. The workflow `publish` runs it before it publishes
 * ```
 *
 * Nothing is published, and no file of the repository is changed. Exits with 1 if a check fails.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { pathToFileURL } from "node:url";
import { NPM, run } from "./commands.ts";
import { failuresOf, stepsLeft } from "./checks.ts";
import { copyRepository } from "./copy.ts";
import { packageFolders } from "./entries.ts";
import { pin } from "./pin.ts";
import { project } from "./project.ts";

const { values: options } = parseArgs({ options: { "dry-run": { type: "boolean" }, tag: { type: "string" } } });

/** Prints whether a check has succeeded, and its failures. Returns whether it has. */
function passes(title: string, failures: readonly string[]): boolean {
  console.log(`${failures.length === 0 ? "ok    " : "FAILED"} ${title}`);
  for (const failure of failures) console.log(`       ${failure}`);
  return failures.length === 0;
}

/** Returns the error of a command; nothing if it succeeds. */
async function errorOf(command: () => Promise<unknown>): Promise<string[]> {
  try {
    await command();
    return [];
  } catch (error) {
    return (error as Error).message.trimEnd().split("\n");
  }
}

const scratch = await Deno.makeTempDir({ prefix: "workqueue_release_" });
try {
  copyRepository(scratch);
  const copy = pathToFileURL(`${scratch}/`);
  const results: boolean[] = [];
  for (const [title, failures] of Object.entries(await failuresOf(copy, options))) {
    results.push(passes(title, failures));
  }
  pin(copy);
  for (const folder of packageFolders(copy)) {
    const name = folder === "" ? "the core" : folder;
    const at = new URL(folder, copy);
    const publish = ["publish", "--dry-run", "--quiet", "--no-check", "--allow-dirty"];
    results.push(passes(`JSR accepts ${name}`, await errorOf(() => run(Deno.execPath(), publish, at))));
    const tarball = `${scratch}/package.tgz`;
    const pack = ["run", "--no-config", "-A", "release/pack.ts", folder || ".", tarball];
    const error = await errorOf(async () => {
      await run(Deno.execPath(), pack, copy);
      await run(NPM, ["publish", tarball, "--dry-run", "--access", "public"], copy);
    });
    results.push(passes(`npm accepts ${name}`, error));
  }
  const steps = stepsLeft(project);
  console.log("\nSteps that are left for a person:");
  for (const [i, step] of steps.entries()) console.log(`${i + 1}. ${step}`);
  if (results.includes(false)) Deno.exitCode = 1;
} finally {
  await Deno.remove(scratch, { recursive: true });
}
