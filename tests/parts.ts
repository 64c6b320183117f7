/** Parts of the test suite, each a `deno` command. */

import { coreArguments, testArguments } from "./std/arguments.ts";
import { EVERY } from "./every.ts";
import { bunTests, coreTests, libFolders, nodeTests, partFolders, testsIn, wholeFolders } from "./test_files.ts";

/** Command. If the command runs tests, its output ends with the numbers of passed and failed tests. */
export interface Part {
  readonly name: string;
  /** Arguments of `deno`. */
  readonly args: readonly string[];
  /** Number of test files that run at a time; one if omitted. */
  readonly jobs?: number;
}

const HAS_SH = Deno.build.os !== "windows"; // the tests of the command need `sh` and signals

/** Some tests of the packages, and the tests of the house rules. */
const packageTests: readonly string[] = [
  ...["dashboard", "engine", "house", "opentelemetry"].flatMap(testsIn),
  ...(HAS_SH ? ["tests/cli/run_test.ts"] : []),
  "tests/prometheus/prometheus_metrics_test.ts",
  "tests/redis/queue_test.ts",
];

/** Enough tests to see that the code runs on Bun. */
const someBunTests: readonly string[] = [
  ...libFolders,
  "contracts",
  "opentelemetry",
].flatMap(testsIn);

/**
 * Returns a part that runs tests without checking their types, because another part checks all types. V8 starts no
 * helper threads, because other tests need the cores.
 */
function tests(name: string, ...args: readonly string[]): Part {
  return { name, args: ["test", "-A", "--no-check", "--v8-flags=--single-threaded", ...args] };
}

/** Returns a part of which several test files run at a time, because they mostly wait for processes and servers. */
function testsAtOnce(name: string, ...args: readonly string[]): Part {
  return { ...tests(name, "--parallel", ...testArguments, ...args), jobs: 2 };
}

/** Returns a part that runs test files on another runtime, or all that the runtime can run if there are none. */
function on(name: "Bun" | "Node", files: readonly string[]): Part {
  return { name, args: ["task", `test:${name.toLowerCase()}`, ...files.map((file) => `./${file}`)] };
}

const core: readonly Part[] = [
  tests("core, by parts", ...coreArguments, ...partFolders.flatMap(testsIn)),
  tests("core, as a whole", ...coreArguments, ...wholeFolders.flatMap(testsIn)),
];

/** Parts of `deno task test`. The output of the first part is shown as it runs. */
export const defaultParts: readonly Part[] = [
  ...core,
  on("Bun", someBunTests),
  testsAtOnce("packages", ...packageTests),
  { name: "types", args: ["task", "check"] }, // last, because the type check downloads all missing packages
];

/** Folders that form parts of their own, by the names of the parts. The longest part comes first. */
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  "redis, with processes": [
    "tests/redis/faults",
    "tests/redis/history",
    "tests/redis/process",
    "tests/redis/scripts",
  ],
  redis: testsIn("redis"),
  cli: ["tests/cli"],
  pages: ["tests/dashboard/page", "tests/simulate/page"],
  installs: ["tests/installs"],
  docs: ["tests/docs"],
  sqlite: ["tests/sqlite"],
  simulate: [
    "tests/simulate/reality",
    "tests/simulate/results",
    ...testsIn("simulate"),
  ],
};

/**
 * Parts of `deno task ok`: everything. The longest parts come first, because parts run concurrently:
 * `tests/TIMES.md` has their times.
 */
export const allParts: readonly Part[] = [
  ...Object.entries(FOLDERS).filter(([name]) => HAS_SH || name !== "cli").map((
    [name, paths],
  ) => testsAtOnce(name, ...paths)),
  on("Bun", EVERY ? [] : bunTests),
  testsAtOnce(
    "the rest",
    "--doc",
    `--ignore=${["tests/cli", ...Object.values(FOLDERS).flat(), ...coreTests].join()}`,
  ),
  ...core,
  { name: "style", args: ["task", "style"] },
  on("Node", EVERY ? [] : nodeTests),
];
