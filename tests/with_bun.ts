/**
 * Installs the dependencies of the tests for Bun, and runs tests there. On Deno: `deno task test:bun [FILE…]` (default:
 * all tests that Bun can run). On Bun: `bun tests/with_bun.ts [FILE…]` (default: the tests of the core).
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { coreTests, packageFolders, testsIn } from "./test_files.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const [BUN, ...FIRST_ARGS]: string[] = process.versions["bun"] === undefined
  ? ["npx", "-y", "bun@1"]
  : [process.execPath];

/** Runs Bun in a folder of the repository. Ends this process if Bun fails. */
async function bun(args: readonly string[], folder = ""): Promise<void> {
  // npx is a batch file on Windows.
  const options = { cwd: ROOT + folder, stdio: "inherit", shell: process.platform === "win32" } as const;
  const [code] = await once(spawn(BUN!, [...FIRST_ARGS, ...args], options), "exit");
  if (code !== 0) process.exit(code ?? 1);
}

async function install(): Promise<void> {
  const packages = readdirSync(`${ROOT}packages`).sort().map((name) => `packages/${name}`);
  for (const folder of ["tests", ...packages].filter((folder) => existsSync(`${ROOT}${folder}/package.json`))) {
    await bun(["install", "--no-save", "--silent"], folder);
  }
}

function defaultFiles(): readonly string[] {
  if (process.versions["bun"] === undefined) return [...coreTests, ...packageFolders.flatMap(testsIn)];
  console.log("Running the tests of the core: a few minutes.");
  return coreTests;
}

const given = process.argv.slice(2);
const files = given.length > 0 ? given : defaultFiles().map((file) => `./${file}`);
await install();
await bun(["test", "--timeout", "300000", "--preload", "./tests/bun_preload.ts", ...files]);
