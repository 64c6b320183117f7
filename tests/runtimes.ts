/** The runtimes that the code is made for, as commands that run a script. */

import { execFile } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** The config in which Deno finds the packages of tests and examples. */
export const ALL_PACKAGES: string = fileURLToPath(new URL("../deno.all.json", import.meta.url));

/** The runtime's executable: this one, or what its npm package brings. */
async function find(global: string, npmPackage: string, print: readonly string[]): Promise<string> {
  if (global in globalThis && process.versions[global.toLowerCase()] !== undefined) return process.execPath;
  const shell = process.platform === "win32"; // where npx is a batch file
  const { stdout } = await promisify(execFile)("npx", ["-y", npmPackage, ...print], { shell });
  return stdout.trim();
}

/** Itself, and not npx: a signal sent to npx would end npx. */
let deno: Promise<string> | undefined;
let bun: Promise<string> | undefined;

/**
 * What starts a script, for each runtime; to be followed by options of V8 or the script. Nothing is printed but what
 * the script prints: Deno would tell of each package that it looks up the first time.
 */
export const runtimes: Record<string, () => Promise<string[]>> = {
  Deno: async () => {
    const path = await (deno ??= find("Deno", "deno@2", ["eval", "console.log(Deno.execPath())"]));
    return [path, "run", "--quiet", "--config", ALL_PACKAGES, "-A"];
  },
  Bun: async () => [await (bun ??= find("Bun", "bun@1", ["-e", "console.log(process.execPath)"]))],
};
