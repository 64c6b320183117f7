/**
 * Test files, by folder in `tests/`. Each folder with tests is in one of these lists; a test in `tests/house/` checks
 * this.
 */

import { readdirSync } from "node:fs";

/** Returns the test files in a folder of `tests/`, without its subfolders. */
export function testsIn(folder: string): string[] {
  const path = `tests/${folder}`;
  return readdirSync(new URL(`../${path}`, import.meta.url))
    .filter((name) => name.endsWith("_test.ts")).map((name) => `${path}/${name}`).sort();
}

/** Folders of tests for the rooms of `lib/`, by the rooms' names, and for the stand-ins of `@std`. */
export const libFolders: readonly string[] = [
  "base",
  "structures",
  "tokens",
  "queue",
  "workers",
  "metrics",
  "inspection",
  "std",
];

/**
 * Folders of tests for the core and config files. The tests need no server, and almost none of them starts a process.
 */
export const coreFolders: readonly string[] = [
  ...libFolders,
  "config",
  "config_file",
  "conformance",
  "contracts",
  "disciplines",
  "throttles",
  "faults",
  "limiters",
  "model",
  "registry",
];

/** Folders of tests for packages. These tests also run on Bun. */
export const packageFolders: readonly string[] = [
  "dashboard",
  "engine",
  "opentelemetry",
  "prometheus",
  "redis",
  "redis/faults",
  "simulate",
  "sqlite",
  "sqlite/faults",
];

/**
 * Folders of tests that run only on Deno, because they test Deno itself, start the other runtimes on their own, or test
 * what does not depend on the runtime: scripts on the server, and the results of simulations.
 */
export const denoFolders: readonly string[] = [
  "cli",
  "config_file/process",
  "dashboard/page",
  "dashboard/process",
  "docs",
  "faults/process",
  "house",
  "installs",
  "opentelemetry/process",
  "recipes",
  "redis/faults/process",
  "redis/history",
  "redis/process",
  "redis/scripts",
  "simulate/page",
  "simulate/results",
  "sqlite/model",
  "sqlite/process",
];

/** Test files of the core and of config files. */
export const coreTests: readonly string[] = coreFolders.flatMap(testsIn);
