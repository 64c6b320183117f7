/** Installs the packages from npm that tests import on Bun and Node. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { runtimes } from "./runtimes.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Runs Bun in a folder of the repository. Ends this process if Bun fails. */
export async function runBun(args: readonly string[], folder = ""): Promise<void> {
  const [bun] = await runtimes["Bun"]!();
  const [code] = await once(spawn(bun!, args, { cwd: ROOT + folder, stdio: "inherit" }), "exit");
  if (code !== 0) process.exit(code ?? 1);
}

/** Installs the packages. */
export async function installPackages(): Promise<void> {
  const packages = readdirSync(`${ROOT}packages`).sort().map((name) => `packages/${name}`);
  for (const folder of ["tests", ...packages].filter((folder) => existsSync(`${ROOT}${folder}/package.json`))) {
    await runBun(["install", "--no-save", "--silent"], folder);
  }
}
