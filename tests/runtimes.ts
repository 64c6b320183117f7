/** Supported runtimes, as commands that run a script. */

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** Config file through which Deno finds the packages that tests and examples import. */
export const ALL_PACKAGES: string = fileURLToPath(new URL("../deno.all.json", import.meta.url));

/**
 * Returns the path of a runtime's executable. If this process runs on another runtime, the executable comes from the
 * runtime's npm package. The path is kept in an environment variable, because test files don't share modules, and npx
 * takes half a second of processor time.
 */
async function find(global: string, npmPackage: string, print: readonly string[]): Promise<string> {
  if (global in globalThis && process.versions[global.toLowerCase()] !== undefined) return process.execPath;
  const kept = `WORKQUEUE_PATH_OF_${global.toUpperCase()}`;
  return process.env[kept] ??= await findByNpx(npmPackage, print);
}

async function findByNpx(npmPackage: string, print: readonly string[]): Promise<string> {
  const shell = process.platform === "win32"; // npx is a batch file on Windows
  const { stdout } = await promisify(execFile)("npx", ["-y", npmPackage, ...print], { shell });
  return stdout.trim();
}

/** Whether Node can run scripts: see `node_preload.mjs`. `packages_from_npm.ts` installs what it needs. */
export const HAS_NODE: boolean = existsSync(new URL("node_modules/esbuild", import.meta.url));

/** Module that Node loads first, because it neither runs TypeScript nor finds the packages by itself. */
const NODE_PRELOAD: string = new URL("node_preload.mjs", import.meta.url).href;

/** Paths of the executables, which are started without npx because a signal to npx would end only npx. */
let deno: Promise<string> | undefined;
let bun: Promise<string> | undefined;
let node: Promise<string> | undefined;

/**
 * Returns the start of a command line that runs a script, for each runtime. The caller appends the script, preceded by
 * options for V8 if needed. With `--quiet`, only the script prints output. Otherwise, Deno would report each package
 * that it looks up for the first time.
 */
export const runtimes: Record<string, () => Promise<string[]>> = {
  Deno: async () => {
    const path = await (deno ??= find("Deno", "deno@2", ["eval", "console.log(Deno.execPath())"]));
    return [path, "run", "--quiet", "--config", ALL_PACKAGES, "-A"];
  },
  Bun: async () => [await (bun ??= find("Bun", "bun@1", ["-e", "console.log(process.execPath)"]))],
};

/** The runtimes of {@linkcode runtimes}, and Node 22, which has SQLite, if it can run scripts. */
export const allRuntimes: Record<string, () => Promise<string[]>> = {
  ...runtimes,
  ...HAS_NODE && {
    Node: async () => {
      const path = await (node ??= find("Node", "node@22", ["-p", "process.execPath"]));
      return [path, "--no-warnings", "--import", NODE_PRELOAD];
    },
  },
};
