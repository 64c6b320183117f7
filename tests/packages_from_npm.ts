/** Installs the packages from npm that tests import on Bun and Node. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const [BUN, ...FIRST_ARGS]: string[] = process.versions["bun"] === undefined
  ? ["npx", "-y", "bun@1"]
  : [process.execPath];

/** Runs Bun in a folder of the repository. Ends this process if Bun fails. */
export async function runBun(args: readonly string[], folder = ""): Promise<void> {
  // npx is a batch file on Windows.
  const options = { cwd: ROOT + folder, stdio: "inherit", shell: process.platform === "win32" } as const;
  const [code] = await once(spawn(BUN!, [...FIRST_ARGS, ...args], options), "exit");
  if (code !== 0) process.exit(code ?? 1);
}

/** Installs the packages. */
export async function installPackages(): Promise<void> {
  const packages = readdirSync(`${ROOT}packages`).sort().map((name) => `packages/${name}`);
  for (const folder of ["tests", ...packages].filter((folder) => existsSync(`${ROOT}${folder}/package.json`))) {
    await runBun(["install", "--no-save", "--silent"], folder);
  }
}
