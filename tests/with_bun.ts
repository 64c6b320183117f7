/**
 * Runs tests on Bun. On Deno: `deno task test:bun [FILE…]` (default: all tests that Bun can run). On Bun: `bun
 * tests/with_bun.ts [FILE…]` (default: the tests of the core).
 */

import process from "node:process";
import { installPackages, runBun } from "./packages_from_npm.ts";
import { coreTests, packageFolders, testsIn } from "./test_files.ts";

function defaultFiles(): readonly string[] {
  if (process.versions["bun"] === undefined) return [...coreTests, ...packageFolders.flatMap(testsIn)];
  console.log("Running the tests of the core: a few minutes.");
  return coreTests;
}

const given = process.argv.slice(2);
const files = given.length > 0 ? given : defaultFiles().map((file) => `./${file}`);
await installPackages();
await runBun(["test", "--timeout", "300000", "--preload", "./tests/bun_preload.ts", ...files]);
