/**
 * Test files, by folder in `tests/`. Each folder with tests is in one of these lists; a test in `tests/house/` checks
 * this.
 */

import { readdirSync } from "node:fs";

/** Returns the test files in a folder of the repository, without its subfolders. */
function filesIn(path: string): string[] {
  return readdirSync(new URL(`../${path}`, import.meta.url))
    .filter((name) => name.endsWith("_test.ts")).map((name) => `${path}/${name}`).sort();
}

/** Returns the test files in a folder of `tests/`, without its subfolders. */
export function testsIn(folder: string): string[] {
  return filesIn(`tests/${folder}`);
}

/** Folders of tests for the rooms of `lib/`, by the rooms' names, and for the stand-ins of `@std`. */
export const libFolders: readonly string[] = [
  "base",
  "structures",
  "policy",
  "tokens",
  "queue",
  "workers",
  "metrics",
  "inspection",
  "std",
];

/** Folders of tests for the contracts, and for the parts that implement them. */
export const partFolders: readonly string[] = [...libFolders, "contracts", "disciplines", "limiters", "throttles"];

/** Folders of tests for configs, and for all parts of the core together. */
export const wholeFolders: readonly string[] = [
  "config",
  "config_file",
  "conformance",
  "faults",
  "model",
  "registry",
];

/**
 * Folders of tests for the core and config files. The tests need no server, and almost none of them starts a process.
 */
export const coreFolders: readonly string[] = [...partFolders, ...wholeFolders];

/** Folders of tests for packages. These tests also run on Bun. */
export const packageFolders: readonly string[] = [
  "dashboard",
  "engine",
  "kubernetes/cache",
  "kubernetes/client",
  "kubernetes/lease",
  "kubernetes/manager",
  "kubernetes/testing",
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
  "house/extend",
  "installs",
  "kubernetes/client/process",
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

/** Folders of tests that no part of `deno task ok` runs, because they take long: they have tasks of their own. */
export const rareFolders: readonly string[] = ["kubernetes/real", "site"];

/** Returns the test files in a folder of `tests/` and in its subfolders. */
export function testsUnder(folder: string): string[] {
  return testFolders.filter((name) => name === folder || name.startsWith(`${folder}/`)).flatMap(testsIn);
}

const testFolders: readonly string[] = [...coreFolders, ...packageFolders, ...denoFolders];
const benchFolders: readonly string[] = ["bench", "bench/peers", "bench/redis", "bench/rows", "bench/sqlite"];

/** All test files. */
export const allTests: readonly string[] = [...testFolders.flatMap(testsIn), ...benchFolders.flatMap(filesIn)];

/** Test files of the core and of config files. */
export const coreTests: readonly string[] = coreFolders.flatMap(testsIn);

/** Test files of SQLite for which the runtime matters: each runtime has its own SQLite, files and threads. */
const sqliteFiles: readonly string[] = [
  "tests/sqlite/broken_files_test.ts",
  "tests/sqlite/engine_test.ts",
  "tests/sqlite/queue_test.ts",
  "tests/sqlite/thread_test.ts",
  "tests/sqlite/waking_test.ts",
];

/**
 * Test files of controllers for which the runtime matters: connections, commands, promises, signals, and contexts that
 * follow calls.
 */
const kubernetesFiles: readonly string[] = [
  "tests/kubernetes/cache/own_writes_test.ts",
  "tests/kubernetes/client/credentials_test.ts",
  "tests/kubernetes/client/http_transport_test.ts",
  "tests/kubernetes/manager/finalizer_test.ts",
  "tests/kubernetes/manager/manager_test.ts",
];

/**
 * Test files that always run on Bun, besides the contracts, queues, pools and limiters: one per package, and the tests
 * of code for which the runtime matters, such as servers, sockets, files, SQLite, and the order or size of built-in
 * collections.
 */
const bunFiles: readonly string[] = [
  ...testsIn("base"),
  ...testsIn("inspection"),
  "tests/config/json_test.ts",
  "tests/config_file/load_test.ts",
  "tests/config_file/watch_test.ts",
  "tests/dashboard/events_test.ts",
  "tests/dashboard/guard_test.ts",
  "tests/engine/error_text_test.ts",
  "tests/faults/full_map_test.ts",
  "tests/faults/handlers_test.ts",
  "tests/opentelemetry/traced_handler_test.ts",
  "tests/prometheus/prometheus_metrics_test.ts",
  "tests/redis/connection_test.ts",
  "tests/redis/queue_test.ts",
  "tests/redis/tls_test.ts",
  "tests/simulate/simulate_test.ts",
  ...kubernetesFiles,
  ...sqliteFiles,
];

/** Test files that `deno task ok` runs on Bun. `deno task test:bun` runs all that Bun can run. */
export const bunTests: readonly string[] = [
  ...["contracts", "queue", "workers", "limiters"].flatMap(testsIn),
  ...bunFiles,
];

/** Test files that `deno task ok` runs on Node. `deno task test:node` runs all tests of SQLite. */
export const nodeTests: readonly string[] = [...kubernetesFiles, ...sqliteFiles];
