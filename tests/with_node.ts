/**
 * Runs tests on Node 22, which has SQLite: `deno task test:node [FILE…]`. By default, runs the tests of
 * `@workqueue/sqlite`, except those of its demo, which starts Deno.
 */

import { spawn } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { installPackages } from "./packages_from_npm.ts";
import { HAS_NODE } from "./runtimes.ts";
import { testsIn } from "./test_files.ts";

const NODE = ["npx", "-y", "node@22"];

const given = process.argv.slice(2);
const files = given.length > 0 ? given : testsIn("sqlite").filter((file) => !file.endsWith("/demo_test.ts"));
const preload = new URL("node_preload.mjs", import.meta.url).href;
const args = [
  "--no-warnings",
  "--import",
  preload,
  "--test",
  "--experimental-test-isolation=none",
  "--test-force-exit",
  "--test-reporter",
  "spec",
  ...files,
];
if (!HAS_NODE) await installPackages();
const tests = spawn(NODE[0]!, [...NODE.slice(1), ...args], {
  cwd: fileURLToPath(new URL("..", import.meta.url)),
  stdio: "inherit",
  shell: process.platform === "win32", // npx is a batch file on Windows
});
const [code] = await once(tests, "exit");
process.exit(code ?? 1);
