/**
 * Test files by the folders of `tests/`. Each folder with tests is in one of these lists, which `tests/house/` checks.
 */

import { readdirSync } from "node:fs";

/** Returns the test files in a folder of `tests/`, without those in its own folders. */
export function testsIn(folder: string): string[] {
  const path = `tests/${folder}`;
  return readdirSync(new URL(`../${path}`, import.meta.url))
    .filter((name) => name.endsWith("_test.ts")).map((name) => `${path}/${name}`).sort();
}

/** Folders for the rooms of `lib/`, by their names there, and for the stand-ins of `@std`. */
export const libFolders: readonly string[] = ["base", "structures", "tokens", "queue", "workers", "metrics", "std"];

/** Folders for the core and config files. Their tests need no server, and almost none starts a process. */
export const coreFolders: readonly string[] = [
  ...libFolders,
  "config",
  "config_file",
  "conformance",
  "contracts",
  "disciplines",
  "faults",
  "limiters",
  "model",
  "registry",
];

/** Folders for packages whose tests run on Bun too. */
export const packageFolders: readonly string[] = [
  "dashboard",
  "opentelemetry",
  "prometheus",
  "redis",
  "redis/faults",
];

/** Folders whose tests run on Deno only: they are about Deno, or start each runtime themselves. */
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
  "redis/process",
];

/** Tests of the core and of config files. */
export const coreTests: readonly string[] = coreFolders.flatMap(testsIn);
